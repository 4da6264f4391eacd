//! Theorems 1 and 2, Corollary 2, theorems beyond the paper, and why random order is needed.

use std::collections::HashMap;

use rayon::prelude::*;
use rooco::Result;
use rooco::guarantee::*;

use super::{Maker, RegretPoint, slug};
use crate::method::Method;
use crate::problem::Instance;
use crate::statistics::Mean;
use crate::trial;

fn regret(p: &Instance, method: &str, seed: u64, orders: u64) -> Result<Mean> {
    let method = Method::parse(method)?;
    let r: Result<Vec<f64>> = (0..orders).into_par_iter().map(|k| Ok(trial::run(p, &method, seed, k)?.regret)).collect();
    Ok(Mean::of(&r?))
}

/// A bound, the algorithm it speaks about, and what was measured.
struct Row {
    id: String,
    label: &'static str,
    statement: &'static str,
    family: &'static str,
    t: u64,
    regret: Mean,
    bound: f64,
}

impl Maker<'_> {
    fn push_regret(&mut self, r: Row) {
        let high = r.regret.mean + 3.0 * r.regret.se;
        let setting = format!("{}, T = {}, {} orders, {:.4} ± {:.4}", r.family, r.t, r.regret.n, r.regret.mean, r.regret.se);
        let point = RegretPoint {
            statement: format!("{}: {}", r.label, r.statement),
            problem: r.family.into(),
            t: r.t,
            regret: r.regret.mean,
            se: r.regret.se,
            bound: r.bound,
        };
        self.paper.regret.push(point);
        self.push(r.id, (r.label, r.statement), setting, high, r.bound);
    }
}

/// Theorems 1 and 2, and those beyond the paper.
pub fn theorems(m: &mut Maker<'_>) -> Result<()> {
    let families = ["p1", "p2h", "p3", "p4", "p5 kappa=10", "p5 kappa=50", "signed-squares", "missing", "trap"];
    let mut cells: Vec<(&'static str, u64, u64)> = Vec::new();
    for family in families {
        cells.extend(
            m.amount(
                vec![(100, 100), (1_000, 40), (10_000, 10)],
                vec![(100, 300), (1_000, 300), (10_000, 100), (100_000, 30), (1_000_000, 8)],
            )
            .into_iter()
            .map(|(t, orders)| (family, t, orders)),
        );
        // The quick run goes all the way on two problems.
        if !m.options.full && matches!(family, "p5 kappa=10" | "trap") {
            cells.extend([(family, 100_000, 6), (family, 1_000_000, 3)]);
        }
    }
    let wanted = |id: &str| m.wants(id);
    let measure = |&(family, t, orders): &(&'static str, u64, u64)| -> Result<Vec<Row>> {
        const LIST: [(&str, &str, &str, &str); 5] = [
            ("theorem-1", "reservoir-sgd", "Theorem 1", "regret of Algorithm 1"),
            ("theorem-2", "sgd-without-replacement", "Theorem 2", "regret of Algorithm 2"),
            ("beyond/theorem-1-sharp", "reservoir-sgd", "Beyond, T1", "Algorithm 1 with sharper constants"),
            ("beyond/theorem-6", "provable", "Beyond, T6", "provable mode, noise at the optimum"),
            ("beyond/theorem-7a", "algorithm-2-prime", "Beyond, T7a", "Algorithm 2', no memory of past rows"),
        ];
        let id = |statement: &str| format!("{statement}/{}/T={t}", slug(family));
        if !LIST.iter().any(|l| wanted(&id(l.0))) {
            return Ok(vec![]);
        }
        let p = m.problem(family, t)?;
        let c = &p.known;
        let mut measured: HashMap<&str, Mean> = HashMap::new();
        let mut rows = Vec::new();
        for (statement_id, method, label, statement) in LIST {
            let bound = match statement_id {
                "theorem-1" => theorem_1(c),
                "theorem-2" => theorem_2(c),
                "beyond/theorem-1-sharp" => theorem_1_sharp(c),
                "beyond/theorem-6" => theorem_6(c, c.l_hat(), None),
                _ => theorem_7a(c),
            };
            let id = id(statement_id);
            // Below T = κ Algorithm 1 is undefined, and so is its row.
            if !bound.applies() || !wanted(&id) {
                continue;
            }
            let regret = match measured.get(method) {
                Some(r) => *r,
                None => *measured.entry(method).or_insert(regret(&p, method, m.seed(), orders)?),
            };
            rows.push(Row { id, label, statement, family, t, regret, bound: bound.value });
        }
        Ok(rows)
    };
    let rows: Result<Vec<Vec<Row>>> = cells.par_iter().map(measure).collect();
    rows?.into_iter().flatten().for_each(|r| m.push_regret(r));
    Ok(())
}

/// Corollary 2: convex sums.
pub fn convex_sums(m: &mut Maker<'_>) -> Result<()> {
    let horizons = m.amount(
        vec![(99u64, 100), (999, 40), (9_999, 10), (99_999, 4)],
        vec![(99, 300), (999, 200), (9_999, 60), (99_999, 20), (999_999, 6)],
    );
    for (t, orders) in horizons {
        let p = m.problem("convex", t)?;
        let c = &p.known;
        let one = corollary_reservoir(c, &Regularised::around_any_point(c, corollary_alpha_reservoir(t)));
        let two = corollary_fresh(c, &Regularised::around_any_point(c, corollary_alpha_fresh(t)));
        for (part, method, bound, label, statement) in [
            ("i", "convex-reservoir-sgd", one, "Corollary 2 (i)", "F merely convex: regularised Algorithm 1, regret Õ(√T)"),
            (
                "ii",
                "convex-sgd-without-replacement",
                two,
                "Corollary 2 (ii)",
                "F merely convex: regularised Algorithm 2, regret Õ(T^2/3)",
            ),
        ] {
            let id = format!("corollary-2/{part}/T={t}");
            if m.wants(&id) {
                let regret = regret(&p, method, m.seed(), orders)?;
                m.push_regret(Row { id, label, statement, family: "convex", t, regret, bound: bound.value });
            }
        }
    }
    Ok(())
}

/// Garber, Korcia and Levy's rates, which grow with d, beside what happens and beside Theorem 1, which do not. Their constants are not known to
/// us: the rate is taken with constant 1, and the row says how much of it the regret is.
pub fn dimension(m: &mut Maker<'_>) -> Result<()> {
    let (t, orders) = m.amount((2_000u64, 20), (20_000, 60));
    for (d, strong, convex) in
        [(2, "p1 d=2 kappa=10", "convex d=2"), (10, "p1 d=10 kappa=10", "convex d=10"), (50, "p1 d=50 kappa=10", "convex d=50")]
    {
        for (kind, family, method) in [("strong", strong, "reservoir-sgd"), ("convex", convex, "convex-reservoir-sgd")] {
            let id = format!("garber/{kind}/d={d}");
            if !m.wants(&id) {
                continue;
            }
            let p = m.problem(family, t)?;
            let c = &p.known;
            let (rate, ours, statement) = if kind == "strong" {
                let statement = "strongly convex sums: regret of Algorithm 1 beside (dG²/λ³)·log T of Garber et al., constant 1 in place of theirs";
                (known::garber_strongly_convex(c, d), theorem_1(c).value, statement)
            } else {
                let statement = "convex sums: regret of regularised Algorithm 1 beside d·T^(3/4) of Garber et al., constant 1 in place of theirs";
                let alpha = corollary_alpha_reservoir(t);
                (known::garber_convex(c, d), corollary_reservoir(c, &Regularised::around_any_point(c, alpha)).value, statement)
            };
            let r = regret(&p, method, m.seed(), orders)?;
            m.push(
                id,
                ("Garber et al.", statement),
                format!("{family}, T = {t}, {orders} orders, {:.3} ± {:.3}; the paper's bound {ours:.1}", r.mean, r.se),
                r.mean + 3.0 * r.se,
                rate,
            );
        }
    }
    Ok(())
}

/// Random order is needed.
pub fn sorted_order(m: &mut Maker<'_>) -> Result<()> {
    let t = m.amount(10_000, 100_000);
    let (sorted, random) = (m.problem("trap-sorted", t)?, m.problem("trap", t)?);
    let (s, r) = (regret(&sorted, "reservoir-sgd", m.seed(), 4)?, regret(&random, "reservoir-sgd", m.seed(), 40)?);
    m.push(
        "sorted-order/linear".into(),
        (
            "Sorted order",
            "random order is needed: with the concave rows first Algorithm 1 pays at least T/20, as T/20 over its regret",
        ),
        format!("trap, T = {t}: {:.1} sorted, {:.2} ± {:.2} in random order", s.mean, r.mean, r.se),
        t as f64 / 20.0 / s.mean,
        1.0,
    );
    m.push(
        "sorted-order/random".into(),
        ("Sorted order", "the same rows in random order: regret below T/100"),
        format!("trap, T = {t}, 40 orders, {:.2} ± {:.2}", r.mean, r.se),
        r.mean + 3.0 * r.se,
        t as f64 / 100.0,
    );
    Ok(())
}
