//! The numbers that the theorems need, and where each of them came from.

use std::fmt;

use super::{Condition, short};

/// Where a constant came from. What is not certain turns a bound into an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Stated by the user, who vouches for it.
    Given,
    /// A valid bound computed from all rows.
    Computed,
    /// Read off so many of the first rows: later ones may go beyond it.
    FirstRows(u64),
    /// Computed from all rows, where some of them are held out: it is not that of the rows that are learned from.
    WithHeldOut,
    /// A small number that is safe for the steps, in place of one that nothing shows to be positive.
    Assumed,
    /// Measured: it may be wrong, and then so is the bound.
    Estimated,
}

impl Source {
    /// True if a bound computed from it is a promise.
    pub fn is_certain(self) -> bool {
        matches!(self, Source::Given | Source::Computed)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Source::Given => "given",
            Source::Computed => "from all rows",
            Source::FirstRows(n) => return write!(f, "from the first {n} rows"),
            Source::WithHeldOut => "from all rows, held-out ones included",
            Source::Assumed => "assumed",
            Source::Estimated => "estimated",
        })
    }
}

/// A number with its source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constant {
    /// The number.
    pub value: f64,
    /// Where it came from.
    pub source: Source,
}

impl Constant {
    /// A number that the user vouches for.
    pub fn given(value: f64) -> Self {
        Constant { value, source: Source::Given }
    }

    /// A valid bound computed from all rows.
    pub fn computed(value: f64) -> Self {
        Constant { value, source: Source::Computed }
    }

    /// A number that may be wrong.
    pub fn estimated(value: f64) -> Self {
        Constant { value, source: Source::Estimated }
    }

    /// A number made of several constants is as good as the weakest of them.
    pub fn derived(value: f64, from: &[Constant]) -> Self {
        let weakest = from.iter().find(|c| !c.source.is_certain()).or(from.iter().find(|c| c.source == Source::Computed));
        Constant { value, source: weakest.map_or(Source::Given, |c| c.source) }
    }
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", short(self.value), self.source)
    }
}

/// What the theorems need of a problem. They are properties of the *set* of rows: none may depend on the order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constants {
    /// G: ‖∇f(w; z)‖ ≤ G for every row, on W.
    pub g: Constant,
    /// β: every ∇f(·; z) is β-Lipschitz on W.
    pub beta: Constant,
    /// λ: the mean F is λ-strongly convex on W. 0: merely convex.
    pub lambda: Constant,
    /// L: mean over rows of ‖∇f(x;z) - ∇f(y;z)‖² ≤ L⟨∇F(x) - ∇F(y), x - y⟩ on W. β²/λ always does; β does if every row is convex.
    pub l: Constant,
    /// β_rms: the root of the mean of the squared smoothness constants of the rows; at most β. Only Theorem 8b uses it.
    pub beta_rms: Constant,
    /// D: the diameter of W.
    pub diameter: Constant,
    /// D₁ ≥ ‖w_1 - w*‖. The largest distance of a point of W from w_1 always does, and so does D.
    pub d1: Constant,
    /// σ_* : the root of the mean of ‖∇f(w*; z)‖² over the rows, if known.
    pub sigma_star: Option<Constant>,
    /// σ_v : the same, centred at ∇F(w*); at most σ_*, and equal to it if w* is interior.
    pub sigma_v: Option<Constant>,
    /// T: the exact number of rows.
    pub horizon: u64,
}

impl Constants {
    /// From the paper's five, with what always follows from them: L = β²/λ, β_rms = β, D₁ = D.
    pub fn new(g: Constant, beta: Constant, lambda: Constant, diameter: Constant, horizon: u64) -> Self {
        let l = Constant::derived(beta.value * beta.value / lambda.value, &[beta, lambda]);
        Constants { g, beta, lambda, l, beta_rms: beta, diameter, d1: diameter, sigma_star: None, sigma_v: None, horizon }
    }

    /// The same where the user vouches for all of them.
    pub fn given(g: f64, beta: f64, lambda: f64, diameter: f64, horizon: u64) -> Self {
        let c = Constant::given;
        Self::new(c(g), c(beta), c(lambda), c(diameter), horizon)
    }

    /// With a known L.
    pub fn with_l(self, l: Constant) -> Self {
        Constants { l, ..self }
    }

    /// With a known bound on ‖w_1 - w*‖.
    pub fn with_d1(self, d1: Constant) -> Self {
        Constants { d1, ..self }
    }

    /// With the root mean square of the rows' smoothness constants.
    pub fn with_beta_rms(self, beta_rms: Constant) -> Self {
        Constants { beta_rms, ..self }
    }

    /// With the noise at the optimum; σ_v falls back to σ_*.
    pub fn with_noise(self, sigma_star: Constant, sigma_v: Option<Constant>) -> Self {
        Constants { sigma_star: Some(sigma_star), sigma_v: Some(sigma_v.unwrap_or(sigma_star)), ..self }
    }

    /// κ = β/λ.
    pub fn kappa(&self) -> f64 {
        self.beta.value / self.lambda.value
    }

    /// L̂ = max(L, β): the smallest K of the provable mode.
    pub fn l_hat(&self) -> f64 {
        self.l.value.max(self.beta.value)
    }

    /// T as a number.
    pub fn t(&self) -> f64 {
        self.horizon as f64
    }

    /// G·D·T; infinite if W is unbounded.
    pub fn trivial(&self) -> f64 {
        let gdt = self.g.value * self.diameter.value * self.t();
        if gdt >= 0.0 { gdt } else { f64::INFINITY }
    }

    /// What every bound for strongly convex sums needs: 0 < λ ≤ β, and T ≥ 1.
    pub(crate) fn strongly_convex(&self) -> Vec<Condition> {
        let (beta, lambda) = (self.beta.value, self.lambda.value);
        let mut conditions = vec![Condition::new(
            lambda > 0.0 && lambda <= beta && beta.is_finite(),
            format!("0 < λ ≤ β (λ = {}, β = {})", short(lambda), short(beta)),
            if lambda > beta {
                "no β-smooth losses have a mean that curves more than β; lower λ or raise β"
            } else {
                "the sum must be strongly convex; add an L2 term, or use the bounds for convex sums"
            },
        )];
        conditions.push(self.has_rows());
        conditions
    }

    /// T ≥ 1.
    pub(crate) fn has_rows(&self) -> Condition {
        Condition::new(self.horizon > 0, "T ≥ 1", "there must be rows")
    }

    /// A valid L is never below λ.
    pub(crate) fn l_is_possible(&self) -> Condition {
        let (l, lambda) = (self.l.value, self.lambda.value);
        Condition::new(
            l >= lambda && l.is_finite(),
            format!("λ ≤ L < ∞ (L = {}, λ = {})", short(l), short(lambda)),
            "a valid L is never below λ; L = β²/λ is always valid",
        )
    }

    /// T > c·κ, which takes rows or curvature to repair.
    pub(crate) fn enough_rows(&self, c: f64) -> Condition {
        let kappa = self.kappa();
        let times = if c == 1.0 { String::new() } else { format!("{c}") };
        Condition::new(
            self.t() > c * kappa,
            format!("T > {times}κ (T = {}, κ = β/λ = {})", self.horizon, short(kappa)),
            format!(
                "it takes more than {} rows, or λ above {} (for instance by L2)",
                short((c * kappa).floor()),
                short(c * self.beta.value / self.t())
            ),
        )
    }

    /// D₁ is finite (not needed where the starting point does not enter).
    pub(crate) fn start_is_near(&self) -> Condition {
        let d1 = self.d1.value;
        Condition::new(
            (0.0..f64::INFINITY).contains(&d1),
            format!("D₁ ≥ ‖w_1 - w*‖ is finite (D₁ = {})", short(d1)),
            "use a bounded domain, or give a bound on the distance from w_1 to the optimum",
        )
    }
}
