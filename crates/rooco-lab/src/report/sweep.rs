//! Algorithms that differ in one number only, drawn against that number: rows kept, or what the algorithm is told of λ and β.

use super::chart::{Chart, Scale};
use super::data::Point;

/// A number that an algorithm's name carries, and the rest of the name.
type Found = (String, f64);

/// Chart id, title of the x axis, words for the title, and how to read the number.
type ChartKind<'a> = (&'a str, &'a str, &'a str, &'a dyn Fn(&str) -> Option<Found>);

/// M and the steps: `sample16:paper` is 16 and `paper`, `fresh:paper` 0, `res:paper` all T rows.
fn rows_kept(algorithm: &str, t: u64) -> Option<Found> {
    let (draw, steps) = algorithm.split_once(':')?;
    let m = match draw {
        "fresh" => 0.0,
        "res" => t as f64,
        _ => (draw.strip_prefix("sample")?.parse::<u64>().ok()?.min(t)) as f64,
    };
    let words = |steps: &str| match steps {
        "paper" => "the paper's steps".to_owned(),
        "invl" => "steps up to 1/L".into(),
        "invbeta" => "steps up to 1/β".into(),
        other => format!("steps {other}"),
    };
    Some((steps.strip_suffix(":poly3").map_or_else(|| words(steps), |s| words(s) + ", averaged play"), m))
}

/// The factor of `lambda=` or `beta=`, 1 if it is not there; `None` if the other one is.
fn told(algorithm: &str, name: &str) -> Option<Found> {
    let mut words = algorithm.split_whitespace();
    let base = words.next()?.to_owned();
    let mut factor = 1.0;
    for word in words {
        factor = word.strip_prefix(name)?.strip_prefix('=')?.parse().ok()?;
    }
    Some((base, factor))
}

/// Charts of regret and of the last model's error against each number that at least three algorithms of a kind share.
pub fn sweeps(problem: &str, points: &[&Point], at: &str) -> Vec<Chart> {
    let t = points.first().map_or(0, |p| p.t);
    let mut out = Vec::new();
    let kinds: [ChartKind<'_>; 3] = [
        ("memory", "M, past rows kept (T: all of them)", "rows kept", &|a| rows_kept(a, t)),
        ("lambda", "λ that the algorithm is told / true λ", "a wrong λ", &|a| told(a, "lambda")),
        ("beta", "β that the algorithm is told / true β", "a wrong β", &|a| told(a, "beta")),
    ];
    for (id, x_title, word, find) in kinds {
        let found: Vec<(Found, &&Point)> = points.iter().filter_map(|p| Some((find(&p.algorithm)?, p))).collect();
        let values = |series: &str| found.iter().filter(|f| f.0.0 == series).count();
        // Fresh and reservoir draws are in most experiments: only a sample in between makes a curve.
        let swept: Vec<_> = found.iter().filter(|f| values(&f.0.0) >= 3).collect();
        if swept.is_empty() {
            continue;
        }
        let (regret, last) = (format!("Regret against {word}"), format!("Error of the last model against {word}"));
        for (name, title, y_title, last) in [("regret", regret, "regret", false), ("last", last, "F - F*", true)] {
            let value = |p: &Point| if last { (p.last, p.last_se) } else { (p.regret, p.se) };
            let mut chart = Chart::new(problem, &format!("{id}-{name}"), &title, x_title, y_title).subtitled(at);
            let mut sorted = swept.clone();
            sorted.sort_by(|a, b| a.0.1.total_cmp(&b.0.1));
            for ((series, x), p) in sorted.iter().map(|f| (&f.0, f.1)) {
                let (y, se) = value(p);
                chart.line(series, None).add(*x, y, Some(se));
            }
            if id == "memory" {
                chart.x.scale = Scale::Symlog;
                chart.legend = "steps".into();
                // Both ends of the paper, for comparison: Algorithm 2 keeps nothing, Algorithm 1 everything.
                for (algorithm, name) in [("reservoir-sgd", "Algorithm 1"), ("sgd-without-replacement", "Algorithm 2")] {
                    if let Some(p) = points.iter().find(|p| p.algorithm == algorithm) {
                        let line = chart.line(name, Some("no sample"));
                        line.add(0.0, value(p).0, None);
                        line.add(t as f64, value(p).0, None);
                    }
                }
            }
            out.push(chart);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_from_names() {
        assert_eq!(rows_kept("sample16:paper", 100), Some(("the paper's steps".into(), 16.0)));
        assert_eq!(rows_kept("fresh:invl:poly3", 100), Some(("steps up to 1/L, averaged play".into(), 0.0)));
        assert_eq!(rows_kept("res:paper", 100), Some(("the paper's steps".into(), 100.0)));
        assert_eq!(rows_kept("ogd", 100), None);
        assert_eq!(told("ogd lambda=0.1", "lambda"), Some(("ogd".into(), 0.1)));
        assert_eq!(told("ogd", "lambda"), Some(("ogd".into(), 1.0)));
        assert_eq!(told("ogd beta=2", "lambda"), None);
    }
}
