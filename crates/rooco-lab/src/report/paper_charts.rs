//! The charts of the paper's statements.

use super::chart::{Axis, Chart, Scale};
use crate::paper::Paper;

/// Regret against T beside every theorem, stability against m, memory.
pub fn charts(paper: &Paper) -> Vec<Chart> {
    let mut out: Vec<Chart> = Vec::new();
    for p in &paper.regret {
        let at = out.iter().position(|c| c.title == p.statement).unwrap_or_else(|| {
            let name = p.statement.split(':').next().unwrap_or("regret");
            let mut chart = Chart::new("paper", name, &p.statement, "T", "regret").subtitled("measured; dashed: the bound");
            chart.legend = "problem".into();
            out.push(chart);
            out.len() - 1
        });
        out[at].line(&p.problem, None).add(p.t as f64, p.regret, Some(p.se));
        out[at].line(&p.problem, Some("bound")).add(p.t as f64, p.bound, None);
    }
    let mut problems: Vec<&str> = paper.stability.iter().map(|s| s.problem.as_str()).collect();
    problems.dedup();
    for problem in problems {
        let title = format!("Stability against m: {problem}");
        let mut chart = Chart::new("paper", &format!("stability-{problem}"), &title, "m, rows seen", "E‖w - w'‖")
            .subtitled("one past row exchanged for an unseen one; dashed: the paper's rates");
        for s in paper.stability.iter().filter(|s| s.problem == problem) {
            chart.line(&s.algorithm, None).add(s.m as f64, s.distance, Some(s.se));
            // The rates are about the paper's own steps.
            if let "reservoir-sgd" | "sgd-without-replacement" = s.algorithm.as_str() {
                let name = if s.algorithm == "reservoir-sgd" { "40G/(λm)" } else { "8G/(λm)" };
                chart.line(&s.algorithm, Some(name)).add(s.m as f64, s.bound, None);
            }
        }
        out.push(chart);
    }
    if !paper.memory.is_empty() {
        let title = "Rows held by the replay plan";
        let mut chart =
            Chart::new("paper", "memory", title, "round / T", "rows held / T").subtitled("dashed: 0.1994, the limit of the peak");
        let linear = |title: &str| Axis { title: title.into(), scale: Scale::Linear };
        (chart.x, chart.y, chart.legend) = (linear("round / T"), linear("rows held / T"), "horizon".into());
        for m in &paper.memory {
            chart.line(&format!("T = {}", m.t), None).add(m.round as f64 / m.t as f64, m.live, None);
        }
        let first = chart.series[0].key.clone();
        let limit = chart.line(&first, Some("limit"));
        limit.add(0.0, 0.19935, None);
        limit.add(1.0, 0.19935, None);
        out.push(chart);
    }
    out
}
