//! The HTML file: our page, our script, the three vendored scripts, and the data.

use super::ReportData;

const PAGE: &str = include_str!("../../assets/report.html");
const STYLE: &str = include_str!("../../assets/report.css");
const SCRIPT: &str = include_str!("../../assets/report.js");
const VENDORED: [&str; 3] = [
    include_str!("../../assets/vega.min.js"),
    include_str!("../../assets/vega-lite.min.js"),
    include_str!("../../assets/vega-embed.min.js"),
];

/// What the licences of the vendored scripts ask for: their text goes where the scripts go.
const LICENCES: [&str; 4] = [
    include_str!("../../assets/LICENSE-vega"),
    include_str!("../../assets/LICENSE-vega-lite"),
    include_str!("../../assets/LICENSE-vega-embed"),
    include_str!("../../assets/LICENSE-bundled"),
];

/// The whole report as one file.
pub fn html(data: &ReportData) -> String {
    // `</` ends a script wherever it stands, and source maps would be fetched.
    let vendored: Vec<String> = VENDORED
        .iter()
        .map(|s| s.lines().filter(|l| !l.starts_with("//# sourceMappingURL")).collect::<Vec<_>>().join("\n"))
        .collect();
    let shown = ReportData { curves: vec![], ..data.clone() };
    let json = serde_json::to_string(&shown).unwrap_or_else(|_| "{}".into()).replace("</", "<\\/");
    let kind = if data.kind.is_empty() { "rooco lab" } else { &data.kind };
    let mut page = PAGE.replace("{{TITLE}}", &escape(&data.title)).replace("{{KIND}}", &escape(kind));
    for (place, text) in [
        ("/*STYLE*/", STYLE),
        ("/*LICENCES*/", &LICENCES.join("\n")),
        ("/*VENDORED*/", &vendored.join("\n")),
        ("/*DATA*/", &json),
        ("/*SCRIPT*/", SCRIPT),
    ] {
        page = page.replacen(place, text, 1);
    }
    page
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
