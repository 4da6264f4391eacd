//! Regret beside its bounds, on a problem in which a third of the rows is non-convex and only the mean is not.

use std::io::Write;

use anyhow::Result;
use rooco::guarantee::{self, Guarantee};
use rooco_lab::problem::nonconvex_quadratics;
use rooco_lab::{Mean, Method, trial};

use crate::output::{Table, words};

const T: u64 = 9_999;
const ORDERS: u64 = 20;

pub fn run(seed: u64, out: &mut impl Write) -> Result<()> {
    let problem = nonconvex_quadratics(T, 10, 10.0, 1.0, seed)?;
    let c = &problem.known;
    writeln!(out, "2. Regret of the paper's algorithms and of those beyond it, beside what is proved.")?;
    writeln!(
        out,
        "   {} quadratics in 10 dimensions on the unit ball, a third of them non-convex; κ = {:.1}, mean ± s.e. over {ORDERS} random orders.",
        words::count(T),
        c.kappa()
    )?;
    writeln!(out, "   Bounds hold in expectation over the order; G·D·T = {}.\n", words::short(c.trivial()))?;
    let l_hat = c.l_hat();
    let rows: [(&str, &str, Option<Guarantee>, Option<Guarantee>); 7] = [
        ("Algorithm 1 (ReservoirSGD)", "reservoir-sgd", Some(guarantee::theorem_1(c)), Some(guarantee::theorem_1_sharp(c))),
        (
            "Algorithm 2 (freezes at T/2κ)",
            "sgd-without-replacement",
            Some(guarantee::theorem_2(c)),
            Some(guarantee::theorem_2_new_proof(c)),
        ),
        ("Algorithm 2' (freezes at T/κ)", "algorithm-2-prime", None, Some(guarantee::theorem_7a(c))),
        ("provable mode, plain", "provable", None, Some(guarantee::theorem_6(c, l_hat, None))),
        ("provable mode, averaged", "provable:poly3", None, Some(guarantee::theorem_6(c, l_hat, Some(3.0)))),
        ("OGD 1/(λt)", "ogd", None, None),
        ("SGD, cap 1/β, averaged", "fresh:invbeta:poly3", None, None),
    ];
    let mut table = Table::new(["algorithm", "measured regret", "bound as printed", "best proved bound"]);
    for (name, method, printed, best) in rows {
        let method = Method::parse(method)?;
        let regrets: rooco::Result<Vec<f64>> = (0..ORDERS).map(|k| Ok(trial::run(&problem, &method, seed, k)?.regret)).collect();
        let mean = Mean::of(&regrets?);
        let cell = |g: Option<Guarantee>| {
            g.map_or("-".into(), |g| if g.is_vacuous() { "vacuous".into() } else { words::short(g.value) })
        };
        table.row([name.to_owned(), format!("{:.2} ± {:.2}", mean.mean, mean.se), cell(printed), cell(best)]);
    }
    write!(out, "{table}")?;
    Ok(())
}
