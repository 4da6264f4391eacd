//! What others would run, one comparator a file: citation, memory, and what rows that are not convex do to its proof.
//!
//! | name | comparator | memory | rows that are not convex |
//! |---|---|---|---|
//! | `avgsgd` | [`AveragedSgd`] | 2d | proof needs them convex only through F if rows are i.i.d.; here none |
//! | `adagrad` | [`AdaGrad`] | 2d | proof void; runs |
//! | `ftrl` | [`FtrlProximal`] | 3d | proof void; runs |
//! | `vw` | [`VwNormalised`] | 3d | VW itself refuses negative weights |
//! | `coin` | [`CoinBetting`] | 5d | the wealth argument needs convex losses |
//! | `oftrl` | [`OptimisticFtrl`] | 3d | proof needs convex rows |
//! | `oftl` | [`OptimisticFtl`] | 3d | proof needs every row strongly convex |
//! | `omd`, `omd:convex` | [`OptimisticMirrorDescent`] | 3d | needs the mean of the unseen rows convex |
//! | `ons` | [`OnlineNewton`] | 2d² | needs exp-concave rows |
//! | `rls` | [`SignedRls`] | d² | prefix sums may be indefinite; ridge is added until they are not |
//! | `vaw` | [`VovkAzouryWarmuth`] | d² | square loss with positive weights |
//!
//! A comparator is a [`Update`]: where it plays, and what a gradient does to it. [`Comparator`] makes a learner of it.

use rooco::point::Dense;
use rooco::state::State;
use rooco::{Domain, Error, Features, Gradient, Learner, Loss, MAX_FEATURES, Played, Result, Row, Rule, Save};

mod adagrad;
mod averaged_sgd;
mod coin_betting;
mod ftrl_proximal;
mod online_newton;
mod optimistic_ftl;
mod optimistic_ftrl;
mod optimistic_mirror_descent;
mod signed_rls;
mod vovk_azoury_warmuth;
mod vw_normalised;

pub use adagrad::AdaGrad;
pub use averaged_sgd::AveragedSgd;
pub use coin_betting::CoinBetting;
pub use ftrl_proximal::FtrlProximal;
pub use online_newton::OnlineNewton;
pub use optimistic_ftl::OptimisticFtl;
pub use optimistic_ftrl::OptimisticFtrl;
pub use optimistic_mirror_descent::OptimisticMirrorDescent;
pub use signed_rls::SignedRls;
pub use vovk_azoury_warmuth::VovkAzouryWarmuth;
pub use vw_normalised::VwNormalised;

/// What a rule sees of a round.
pub struct Round<'a> {
    /// t, from 1.
    pub t: u64,
    /// The gradient of the row's loss at [`Update::at`].
    pub g: &'a [f64],
    /// The row.
    pub z: Row<'a>,
    /// f.
    pub loss: &'a dyn Loss,
    /// W.
    pub domain: &'a dyn Domain,
}

/// An online algorithm with O(d) or O(d²) state.
pub trait Update: Send {
    /// The point being played; it lies in W.
    fn play(&self) -> &[f64];

    /// Where the gradient is taken.
    fn at(&self) -> &[f64] {
        self.play()
    }

    /// Learns from a gradient.
    fn learn(&mut self, round: &Round<'_>);

    /// Everything that changes, for saving.
    fn parts(&self) -> Vec<&[f64]>;

    /// The same, to load into.
    fn parts_mut(&mut self) -> Vec<&mut [f64]>;
}

/// Names the fields of a rule that change.
macro_rules! state {
    ($($field:ident),*) => {
        fn parts(&self) -> Vec<&[f64]> {
            vec![$(&self.$field[..]),*]
        }
        fn parts_mut(&mut self) -> Vec<&mut [f64]> {
            vec![$(&mut self.$field[..]),*]
        }
    };
}
pub(crate) use state;

/// A rule on a loss and a domain: a learner.
pub struct Comparator<R, L> {
    rule: R,
    loss: L,
    domain: Box<dyn Domain>,
    t: u64,
    gradient: Gradient,
    g: Vec<f64>,
}

impl<R: Update, L: Loss> Comparator<R, L> {
    /// The rule must play a point of W.
    pub fn new(rule: R, loss: L, domain: Box<dyn Domain>) -> Result<Self> {
        if loss.outputs() != 1 {
            return Err(Error::Combination("the comparators of the lab are for losses with one score a row".into()));
        }
        let d = rule.play().len();
        Ok(Comparator { rule, gradient: Gradient::new(1), g: vec![0.0; d], loss, domain, t: 0 })
    }
}

/// The loss of `w` on the row and its gradient at `at`, written out; an error if a number is not finite.
fn pay(loss: &dyn Loss, t: u64, w: &[f64], at: &[f64], z: Row<'_>, buffer: &mut Gradient, g: &mut [f64]) -> Result<f64> {
    let features = loss.features(z.x);
    if features > w.len() {
        return Err(Error::Dimension { what: format!("row {t}"), expected: w.len(), found: features });
    }
    let value = loss.value(&Dense(w), z);
    buffer.clear();
    loss.gradient(&Dense(at), z, buffer);
    if !value.is_finite() || !buffer.is_finite() {
        return Err(Error::NonFinite { row: t, what: "the loss".into(), value });
    }
    g.fill(0.0);
    buffer.add_to(1.0, &Dense(at), z.x, loss.anchor(), g);
    Ok(value)
}

impl<R: Update, L: Loss> Learner for Comparator<R, L> {
    fn scores(&self, x: Features<'_>, out: &mut [f64]) {
        out[0] = x.dot(self.rule.play());
    }

    fn observe(&mut self, z: Row<'_>) -> Result<Played> {
        let t = self.t + 1;
        z.x.check(t, MAX_FEATURES)?;
        let loss = pay(&self.loss, t, self.rule.play(), self.rule.at(), z, &mut self.gradient, &mut self.g)?;
        self.rule.learn(&Round { t, g: &self.g, z, loss: &self.loss, domain: self.domain.as_ref() });
        self.t = t;
        Ok(Played { t, loss })
    }

    fn rounds(&self) -> u64 {
        self.t
    }

    fn rule(&self) -> Rule {
        Rule::plain(self.rule.play().to_vec(), 1)
    }

    fn played(&self) -> Option<Vec<f64>> {
        Some(self.rule.play().to_vec())
    }

    fn set_max_features(&mut self, _: usize) {
        // The rule was made for a number of features, and refuses more.
    }
}

impl<R: Update, L: Loss> Save for Comparator<R, L> {
    fn save(&self) -> State {
        let mut s = State::of(std::any::type_name::<R>());
        s.put_count("rounds", self.t);
        for (k, part) in self.rule.parts().into_iter().enumerate() {
            s.put_f64(&format!("part.{k}"), part);
        }
        s
    }

    fn load(&mut self, state: &State) -> Result<()> {
        state.expect(std::any::type_name::<R>())?;
        for (k, part) in self.rule.parts_mut().into_iter().enumerate() {
            let saved = state.f64(&format!("part.{k}"))?;
            if saved.len() != part.len() {
                return Err(Error::Dimension { what: format!("the saved part {k}"), expected: part.len(), found: saved.len() });
            }
            part.copy_from_slice(saved);
        }
        self.t = state.count("rounds")?;
        Ok(())
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn distance_squared(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}
