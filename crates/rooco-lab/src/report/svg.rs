//! Static charts for papers: any [`Chart`] as SVG.

use super::chart::{Axis, Chart, ChartKind, Scale};

const WIDTH: f64 = 560.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 190.0;
const TOP: f64 = 52.0;
const BOTTOM: f64 = 50.0;
/// Okabe and Ito's colours first, which survive colour blindness and grey printers.
const COLOURS: [&str; 12] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999933", "#7a5195", "#8c564b", "#5f9ea0",
    "#b0413e",
];

/// One axis on paper: where a value stands, and the ticks.
struct Ruler {
    scale: Scale,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Ruler {
    fn new(axis: &Axis, values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Self {
        let place = |v: f64| place(axis.scale, v);
        let shown = values.filter(|v| v.is_finite() && (axis.scale != Scale::Log || *v > 0.0)).map(place);
        let (low, high) = (shown.clone().fold(f64::INFINITY, f64::min), shown.fold(f64::NEG_INFINITY, f64::max));
        let (low, high) = if low.is_finite() { (low, high.max(low + 0.1)) } else { (0.0, 1.0) };
        // Air above and below, but no value left of a zero.
        let air = 0.03 * (high - low);
        Ruler { scale: axis.scale, low: if axis.scale == Scale::Log { low - air } else { low }, high: high + air, from, to }
    }

    fn at(&self, v: f64) -> f64 {
        let v = if self.scale == Scale::Log { v.max(f64::MIN_POSITIVE) } else { v };
        let share = (place(self.scale, v).clamp(self.low, self.high) - self.low) / (self.high - self.low);
        self.from + share * (self.to - self.from)
    }

    fn ticks(&self) -> Vec<f64> {
        if self.scale == Scale::Linear {
            let rough = (self.high - self.low) / 6.0;
            let unit = 10f64.powf(rough.log10().floor());
            let step = [1.0, 2.0, 5.0, 10.0].map(|k| k * unit).into_iter().find(|s| *s >= rough).unwrap_or(unit);
            let first = (self.low / step).ceil() as i64;
            return (first..).map(|k| k as f64 * step).take_while(|v| *v <= self.high + 1e-12).collect();
        }
        let decades = self.high - self.low;
        // Where less than two decades show, 2 and 5 are labelled too.
        let steps: &[f64] = if decades < 2.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let (first, last) = (self.low.floor() as i32, self.high.ceil() as i32);
        let every = ((last - first) / 8 + 1).max(1);
        let mut ticks: Vec<f64> = (first..=last)
            .filter(|e| e.rem_euclid(every) == 0)
            .flat_map(|e| steps.iter().map(move |m| m * 10f64.powi(e)))
            .filter(|v| self.scale == Scale::Log || *v >= 1.0)
            .collect();
        if self.scale == Scale::Symlog {
            ticks.insert(0, 0.0);
        }
        ticks.retain(|v| (self.low - 1e-9..=self.high + 1e-9).contains(&place(self.scale, *v)));
        ticks
    }
}

fn place(scale: Scale, v: f64) -> f64 {
    match scale {
        Scale::Log => v.log10(),
        Scale::Linear => v,
        Scale::Symlog => v.signum() * (1.0 + v.abs()).log10(),
    }
}

/// 1000, 10⁶, 0.02, 5·10⁻⁴.
fn label(v: f64) -> String {
    let e = if v == 0.0 { 0 } else { (v.abs().log10() + 1e-9).floor() as i32 };
    if (-2..5).contains(&e) {
        return format!("{}", (v * 1e6).round() / 1e6);
    }
    let digits: String = e
        .to_string()
        .chars()
        .map(|c| {
            if c == '-' {
                '⁻'
            } else {
                ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][c as usize - '0' as usize]
            }
        })
        .collect();
    let m = (v / 10f64.powi(e)).round();
    if m == 1.0 { format!("10{digits}") } else { format!("{m}·10{digits}") }
}

/// The chart as SVG text.
pub fn draw(chart: &Chart) -> String {
    let height = match chart.kind {
        ChartKind::Dots | ChartKind::Heat => TOP + BOTTOM + 20.0 * chart.series.len() as f64,
        ChartKind::Lines => 380.0 + 17.0 * chart.series.len().saturating_sub(16) as f64,
    };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n<text x=\"20\" y=\"20\" font-size=\"14\">{}</text>\n\
         <text x=\"20\" y=\"36\" fill=\"#555\">{}</text>\n",
        escape(&chart.title),
        escape(&if chart.section == "paper" { chart.subtitle.clone() } else { format!("{}  {}", chart.section, chart.subtitle) })
    );
    svg += &match chart.kind {
        ChartKind::Lines => lines(chart, height),
        ChartKind::Dots => dots(chart, height),
        ChartKind::Heat => heat(chart, height),
    };
    svg + "</svg>\n"
}

fn vertical_ticks(ruler: &Ruler, top: f64, bottom: f64) -> String {
    let one = |v: f64| {
        let x = ruler.at(v);
        format!(
            "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{top}\" y2=\"{bottom}\" stroke=\"#ddd\"/><text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
            bottom + 16.0,
            label(v)
        )
    };
    ruler.ticks().into_iter().map(one).collect()
}

fn lines(chart: &Chart, height: f64) -> String {
    let bottom = height - BOTTOM;
    let x = Ruler::new(&chart.x, chart.series.iter().flat_map(|s| s.x.iter().copied()), LEFT, WIDTH - RIGHT);
    let y = Ruler::new(&chart.y, chart.series.iter().flat_map(|s| s.y.iter().copied()), bottom, TOP);
    let mut svg = vertical_ticks(&x, TOP, bottom);
    for v in y.ticks() {
        svg += &format!(
            "<line x1=\"{LEFT}\" x2=\"{1}\" y1=\"{0:.1}\" y2=\"{0:.1}\" stroke=\"#ddd\"/><text x=\"{2}\" y=\"{3:.1}\" text-anchor=\"end\">{4}</text>\n",
            y.at(v),
            WIDTH - RIGHT,
            LEFT - 6.0,
            y.at(v) + 4.0,
            label(v)
        );
    }
    let (middle, half) = ((LEFT + WIDTH - RIGHT) / 2.0, (TOP + bottom) / 2.0);
    svg += &format!(
        "<text x=\"{middle:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n\
         <text transform=\"translate(16 {half:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
        height - 12.0,
        escape(&chart.x.title),
        escape(&chart.y.title)
    );
    let mut keys: Vec<&str> = Vec::new();
    for (k, s) in chart.series.iter().enumerate() {
        let at = keys.iter().position(|n| *n == s.key).unwrap_or_else(|| {
            keys.push(&s.key);
            keys.len() - 1
        });
        let colour = COLOURS[at % COLOURS.len()];
        let shown: Vec<usize> = (0..s.y.len()).filter(|&k| y.scale != Scale::Log || s.y[k] > 0.0).collect();
        let path = |values: &[f64], rev: bool| -> String {
            let one = |&k: &usize| format!("{:.1},{:.1}", x.at(s.x[k]), y.at(values[k]));
            if rev {
                shown.iter().rev().map(one).collect::<Vec<_>>().join(" ")
            } else {
                shown.iter().map(one).collect::<Vec<_>>().join(" ")
            }
        };
        if !s.low.is_empty() && shown.len() > 1 {
            svg += &format!(
                "<polygon points=\"{} {}\" fill=\"{colour}\" opacity=\"0.15\"/>\n",
                path(&s.low, false),
                path(&s.high, true)
            );
        }
        let dash = if s.bound.is_some() { " stroke-dasharray=\"5 4\"" } else { "" };
        svg += &format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.6\"{dash}/>\n",
            path(&s.y, false)
        );
        if s.bound.is_none() && shown.len() <= 12 {
            for &k in &shown {
                svg += &format!("<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.4\" fill=\"{colour}\"/>\n", x.at(s.x[k]), y.at(s.y[k]));
            }
        }
        let (at, from) = (TOP + 8.0 + 17.0 * k as f64, WIDTH - RIGHT + 12.0);
        let name = s.bound.as_ref().map_or(s.key.clone(), |b| format!("{}: {b}", s.key));
        svg += &format!(
            "<line x1=\"{from}\" x2=\"{}\" y1=\"{at}\" y2=\"{at}\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/><text x=\"{}\" y=\"{}\">{}</text>\n",
            from + 18.0,
            from + 24.0,
            at + 4.0,
            escape(&name)
        );
    }
    svg
}

fn dots(chart: &Chart, height: f64) -> String {
    let bottom = height - BOTTOM;
    let x = Ruler::new(&chart.x, chart.series.iter().flat_map(|s| s.y.iter().copied()), 230.0, WIDTH - 20.0);
    let mut svg = vertical_ticks(&x, TOP, bottom);
    svg += &format!("<text x=\"390\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", height - 12.0, escape(&chart.x.title));
    for (k, s) in chart.series.iter().enumerate() {
        let (at, colour) = (TOP + 10.0 + 20.0 * k as f64, COLOURS[k % COLOURS.len()]);
        svg += &format!("<text x=\"222\" y=\"{}\" text-anchor=\"end\">{}</text>\n", at + 4.0, escape(&s.key));
        if let (Some(&low), Some(&high)) = (s.low.first(), s.high.first()) {
            svg += &format!(
                "<line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{at}\" y2=\"{at}\" stroke=\"{colour}\" stroke-width=\"1.6\"/>\n",
                x.at(low),
                x.at(high)
            );
        }
        svg += &format!("<circle cx=\"{:.1}\" cy=\"{at}\" r=\"3.5\" fill=\"{colour}\"/>\n", x.at(s.y[0]));
    }
    svg
}

/// Blue below zero, orange above, white at zero; the largest value is as dark as it gets.
fn heat(chart: &Chart, height: f64) -> String {
    let (left, bottom) = (150.0, height - BOTTOM);
    let most = chart.series.iter().flat_map(|s| &s.y).fold(f64::MIN_POSITIVE, |most, v| most.max(v.abs()));
    let width = (WIDTH - 20.0 - left) / chart.places.len().max(1) as f64;
    let mut svg = String::new();
    for (k, s) in chart.series.iter().enumerate() {
        let top = TOP + 20.0 * k as f64;
        svg += &format!("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", left - 6.0, top + 14.0, escape(&s.key));
        for (x, v) in s.x.iter().zip(&s.y) {
            let colour = if *v < 0.0 { COLOURS[0] } else { COLOURS[1] };
            svg += &format!(
                "<rect x=\"{:.1}\" y=\"{top}\" width=\"{width:.1}\" height=\"20\" fill=\"{colour}\" fill-opacity=\"{:.3}\"/>\n",
                left + x * width,
                v.abs() / most
            );
        }
    }
    for (k, name) in chart.places.iter().enumerate() {
        let x = left + (k as f64 + 0.5) * width;
        svg += &format!("<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", bottom + 16.0, escape(name));
    }
    let middle = (left + WIDTH - 20.0) / 2.0;
    svg + &format!("<text x=\"{middle:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", height - 12.0, escape(&chart.x.title))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heat_map_has_a_cell_for_every_number_and_names_both_sides() {
        let mut chart = Chart::new("s", "n", "a × b", "a", "b");
        (chart.kind, chart.places) = (ChartKind::Heat, vec!["1".into(), "<2".into()]);
        for (key, values) in [("no", [0.5, -1.0]), ("yes", [0.0, 0.25])] {
            values.iter().enumerate().for_each(|(k, v)| chart.line(key, None).add(k as f64, *v, None));
        }
        let svg = draw(&chart);
        assert_eq!(svg.matches("height=\"20\"").count(), 4);
        for words in ["&lt;2", ">yes<", "fill-opacity=\"1.000\"", "fill-opacity=\"0.250\"", COLOURS[0], COLOURS[1]] {
            assert!(svg.contains(words), "{words}: {svg}");
        }
    }

    #[test]
    fn labels_are_short_and_ticks_are_round() {
        for (v, text) in [(0.0, "0"), (1.0, "1"), (0.02, "0.02"), (20_000.0, "20000"), (1e6, "10⁶"), (5e-4, "5·10⁻⁴")] {
            assert_eq!(label(v), text);
        }
        let axis = |scale| Axis { title: String::new(), scale };
        let ticks = |scale, values: &[f64]| Ruler::new(&axis(scale), values.iter().copied(), 0.0, 1.0).ticks();
        assert_eq!(ticks(Scale::Log, &[1.0, 1e3]), [1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(ticks(Scale::Log, &[3.0, 30.0]), [5.0, 10.0, 20.0]);
        assert_eq!(ticks(Scale::Symlog, &[0.0, 1e2]), [0.0, 1.0, 10.0, 100.0]);
        assert_eq!(ticks(Scale::Linear, &[0.0, 1.0]).len(), 6);
    }
}
