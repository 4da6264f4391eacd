//! Static charts for papers: regret against T (or against the round, where there is one T), a file per problem.

use super::ReportData;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 190.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;
/// Okabe and Ito's colours, which survive colour blindness and grey printers.
const COLOURS: [&str; 8] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999933"];

struct Series {
    name: String,
    /// x, y, low, high.
    points: Vec<[f64; 4]>,
    dashed: bool,
}

/// File name (without ending) and SVG text of every chart.
pub fn charts(data: &ReportData) -> Vec<(String, String)> {
    let mut problems: Vec<&str> = Vec::new();
    for p in &data.points {
        if !problems.contains(&p.problem.as_str()) {
            problems.push(&p.problem);
        }
    }
    let mut out = Vec::new();
    for problem in problems {
        let mut series: Vec<Series> = Vec::new();
        let mut horizons: Vec<u64> = data.points.iter().filter(|p| p.problem == problem).map(|p| p.t).collect();
        horizons.dedup();
        let many = horizons.len() > 1;
        let mut add = |name: String, point: [f64; 4], dashed: bool| match series.iter_mut().find(|s| s.name == name) {
            Some(s) => s.points.push(point),
            None => series.push(Series { name, points: vec![point], dashed }),
        };
        if many {
            for p in data.points.iter().filter(|p| p.problem == problem) {
                add(p.algorithm.clone(), [p.t as f64, p.regret, p.lo, p.hi], false);
            }
            for p in data.points.iter().filter(|p| p.problem == problem) {
                if let (Some(b), Some(name)) = (p.bound, &p.bound_name) {
                    add(format!("{name} (bound)"), [p.t as f64, b, b, b], true);
                }
            }
        } else {
            for c in data.curves.iter().filter(|c| c.problem == problem) {
                add(c.algorithm.clone(), [c.round as f64, c.regret, c.lo, c.hi], false);
            }
        }
        let file: String = problem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        out.push((format!("regret-{file}"), draw(problem, if many { "T" } else { "round t" }, &series)));
    }
    if !data.paper.stability.is_empty() {
        let mut series: Vec<Series> = Vec::new();
        for s in &data.paper.stability {
            let name = format!("{}, {}", s.algorithm, s.problem);
            let point = [s.m as f64, s.distance, (s.distance - 2.0 * s.se).max(0.1 * s.distance), s.distance + 2.0 * s.se];
            match series.iter_mut().find(|x| x.name == name) {
                Some(x) => x.points.push(point),
                None => series.push(Series { name, points: vec![point], dashed: false }),
            }
        }
        out.push(("stability".into(), draw("E‖w - w'‖ by coupled runs", "m", &series)));
    }
    out
}

fn draw(title: &str, x_title: &str, series: &[Series]) -> String {
    let finite = |v: f64| v > 0.0 && v.is_finite();
    let all: Vec<[f64; 4]> = series.iter().flat_map(|s| &s.points).copied().filter(|p| finite(p[0]) && finite(p[1])).collect();
    let range = |k: usize| {
        let logs = all.iter().map(|p| p[k].log10());
        let (lo, hi) = (logs.clone().fold(f64::INFINITY, f64::min), logs.fold(f64::NEG_INFINITY, f64::max));
        if lo.is_finite() { (lo, hi.max(lo + 0.1)) } else { (0.0, 1.0) }
    };
    let ((x0, x1), (y0, y1)) = (range(0), range(1));
    let (y0, y1) = (y0 - 0.05, y1 + 0.05);
    let x = |v: f64| LEFT + (v.log10() - x0) / (x1 - x0) * (WIDTH - LEFT - RIGHT);
    let y = |v: f64| HEIGHT - BOTTOM - (v.log10().clamp(y0, y1) - y0) / (y1 - y0) * (HEIGHT - TOP - BOTTOM);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"22\" font-size=\"14\">{}</text>\n",
        escape(title)
    );
    for (lo, hi, vertical) in [(x0, x1, true), (y0, y1, false)] {
        for e in (lo.floor() as i32)..=(hi.ceil() as i32) {
            // Where less than two decades show, 2 and 5 are labelled too.
            for m in if hi - lo < 2.0 { &[1.0, 2.0, 5.0][..] } else { &[1.0][..] } {
                let v = m * 10f64.powi(e);
                if v.log10() < lo - 1e-9 || v.log10() > hi + 1e-9 {
                    continue;
                }
                let label = if (-3..5).contains(&e) { format!("{}", (v * 1e6).round() / 1e6) } else { format!("{m}e{e}") };
                let (x_text, y_text) = (HEIGHT - BOTTOM + 16.0, LEFT - 6.0);
                svg += &if vertical {
                    format!(
                        "<line x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"{TOP}\" y2=\"{1}\" stroke=\"#ddd\"/><text x=\"{0:.1}\" y=\"{x_text}\" text-anchor=\"middle\">{label}</text>\n",
                        x(v),
                        HEIGHT - BOTTOM
                    )
                } else {
                    format!(
                        "<line x1=\"{LEFT}\" x2=\"{1}\" y1=\"{0:.1}\" y2=\"{0:.1}\" stroke=\"#ddd\"/><text x=\"{y_text}\" y=\"{2:.1}\" text-anchor=\"end\">{label}</text>\n",
                        y(v),
                        WIDTH - RIGHT,
                        y(v) + 4.0
                    )
                };
            }
        }
    }
    svg += &format!(
        "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{x_title}</text>\n",
        (LEFT + WIDTH - RIGHT) / 2.0,
        HEIGHT - 12.0
    );
    for (k, s) in series.iter().enumerate() {
        let colour = COLOURS[k % COLOURS.len()];
        let points: Vec<&[f64; 4]> = s.points.iter().filter(|p| finite(p[0]) && finite(p[1])).collect();
        let path = |k: usize, rev: bool| -> String {
            let one = |p: &&[f64; 4]| format!("{:.1},{:.1}", x(p[0]), y(p[k].max(f64::MIN_POSITIVE)));
            if rev {
                points.iter().rev().map(one).collect::<Vec<_>>().join(" ")
            } else {
                points.iter().map(one).collect::<Vec<_>>().join(" ")
            }
        };
        if !s.dashed && points.len() > 1 {
            svg += &format!("<polygon points=\"{} {}\" fill=\"{colour}\" opacity=\"0.15\"/>\n", path(2, false), path(3, true));
        }
        let dash = if s.dashed { " stroke-dasharray=\"5 4\"" } else { "" };
        svg +=
            &format!("<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.6\"{dash}/>\n", path(1, false));
        if !s.dashed && points.len() <= 10 {
            for p in &points {
                svg += &format!("<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.4\" fill=\"{colour}\"/>\n", x(p[0]), y(p[1]));
            }
        }
        let at = TOP + 8.0 + 17.0 * k as f64;
        let from = WIDTH - RIGHT + 12.0;
        svg += &format!(
            "<line x1=\"{from}\" x2=\"{}\" y1=\"{at}\" y2=\"{at}\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/><text x=\"{}\" y=\"{}\">{}</text>\n",
            from + 18.0,
            from + 24.0,
            at + 4.0,
            escape(&s.name)
        );
    }
    svg + "</svg>\n"
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
