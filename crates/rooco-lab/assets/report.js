"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const main = document.getElementById("main");
const charts = [];            // { node, spec }, redrawn when the theme changes
const colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5195", "#999933", "#8c564b", "#5f9ea0", "#b0413e", "#6b8e23", "#708090", "#c71585", "#4169e1"];

function add(parent, tag, text, cls) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  if (cls) node.className = cls;
  parent.appendChild(node);
  return node;
}
const unique = list => [...new Set(list)];
function short(x) {
  if (x === null || x === undefined || Number.isNaN(x)) return "";
  const a = Math.abs(x);
  if (a !== 0 && (a < 1e-3 || a >= 1e6)) return x.toExponential(2);
  return String(Number(x.toPrecision(4)));
}
// An error gets two digits, and its value as many decimals.
function withError(x, se) {
  if (x === null || x === undefined) return "";
  if (!se) return short(x);
  const a = Math.abs(x);
  if (a < 1e-3 || a >= 1e6) return x.toExponential(2) + " ± " + se.toExponential(0);
  const digits = Math.max(0, Math.min(6, 1 - Math.floor(Math.log10(se))));
  return x.toFixed(digits) + " ± " + se.toFixed(digits);
}
function axis(title) {
  return { title, grid: true, labelOverlap: true,
    labelExpr: "datum.value >= 1e5 || datum.value < 1e-3 ? format(datum.value, '.0e') : format(datum.value, '~g')" };
}
// Legend names can be clicked: the rest fades.
function pick(field) { return { name: "pick", select: { type: "point", fields: [field] }, bind: "legend" }; }
const faded = { condition: { param: "pick", value: 1 }, value: 0.08 };
function colour(field, domain, title) {
  return { field, type: "nominal", title, scale: { domain, range: colours },
    legend: { orient: "right", labelLimit: 240, symbolType: "stroke", symbolStrokeWidth: 3, titleLimit: 240 } };
}
function lines(values, o) {
  const x = { field: o.x, type: "quantitative", scale: { type: "log", nice: false }, axis: axis(o.xTitle) };
  const y = field => ({ field, type: "quantitative", scale: { type: "log", nice: false }, axis: axis(o.yTitle) });
  const c = colour(o.series, unique(values.map(v => v[o.series])), o.seriesTitle || "algorithm");
  const layer = [];
  layer.push({ mark: { type: "line", strokeWidth: 2, point: values.length < 400 && !o.noPoints ? { size: 28 } : false },
    transform: [{ filter: `datum.${o.y} > 0` }],
    encoding: { x, y: y(o.y), color: c, opacity: faded, tooltip: o.tooltip } });
  if (o.low) layer.push({ mark: { type: "area", clip: true }, transform: [{ filter: `datum.${o.low} > 0` }], encoding: {
    x, y: y(o.low), y2: { field: o.high }, color: { ...c }, opacity: { condition: { param: "pick", value: 0.18 }, value: 0.02 } } });
  if (o.bounds && o.bounds.length) layer.push({ data: { values: o.bounds }, mark: { type: "line", strokeDash: [6, 4], strokeWidth: 1.5, point: { size: 16 } },
    encoding: { x, y: y("bound"), color: { ...c, field: "algorithm" }, detail: { field: "bound_name" }, opacity: faded,
      tooltip: [{ field: "bound_name", title: "bound" }, { field: "algorithm" }, { field: "t", title: "T", format: "," }, { field: "bound", title: "value", format: ".4g" }] } });
  // The legend is made by the first layer, the lines: only there does it take clicks.
  layer[0].params = [pick(o.series)];
  return { title: { text: o.title, subtitle: o.subtitle, anchor: "start" }, width: "container", height: 300, data: { values }, layer };
}
function chart(parent, spec, id) {
  const node = add(parent, "div", undefined, "chart");
  node.id = id;
  charts.push({ node: add(node, "div"), spec });
}
function drawAll() {
  const dark = document.documentElement.dataset.theme === "dark";
  const config = { background: null, autosize: { type: "fit", contains: "padding" }, font: "system-ui, 'DejaVu Sans', sans-serif", view: { stroke: null },
    axis: { gridOpacity: dark ? 0.15 : 0.4, labelFontSize: 11, titleFontSize: 12 }, title: { fontSize: 15, subtitleFontSize: 12, subtitleColor: dark ? "#9aa4af" : "#59636e", offset: 10 } };
  window.drawn = Promise.all(charts.map(c => vegaEmbed(c.node, { $schema: "https://vega.github.io/schema/vega-lite/v6.json", ...c.spec },
    { renderer: "canvas", theme: dark ? "dark" : undefined, config, actions: { export: { svg: true, png: true }, source: false, compiled: false, editor: false } })));
  return window.drawn;
}
function table(parent, heads, rows) {
  const box = add(parent, "div", undefined, "scroll"), t = add(box, "table"), head = add(add(t, "thead"), "tr");
  heads.forEach(h => add(head, "th", h.title, h.text ? "text" : ""));
  const body = add(t, "tbody");
  rows.forEach(r => {
    const tr = add(body, "tr", undefined, r.fail ? "fail" : "");
    heads.forEach(h => {
      const td = add(tr, "td", undefined, (h.text ? "text" : "") + (h.wrap ? " wrap" : ""));
      if (h.code) add(td, "code", r[h.key]); else td.textContent = r[h.key] ?? "";
    });
  });
}

document.getElementById("about").textContent = data.about;

// The statements of the paper.
const checks = data.paper.checks;
if (checks.length) {
  const passed = checks.filter(c => c.pass).length;
  add(main, "h2", "Statements");
  const p = add(main, "p", `${passed} of ${checks.length} hold. `, passed === checks.length ? "pass" : "fail");
  add(p, "span", "Measured values of expectations are means plus three standard errors.", "note");
  table(main, [{ title: "", key: "mark", text: true }, { title: "statement", key: "statement", text: true, wrap: true }, { title: "setting", key: "setting", text: true, wrap: true },
    { title: "measured", key: "m" }, { title: "bound", key: "b" }, { title: "ratio", key: "r" }, { title: "rerun", key: "command", text: true, code: true }],
    checks.map(c => ({ ...c, mark: c.pass ? "pass" : "FAIL", fail: !c.pass, m: short(c.measured), b: short(c.bound), r: c.bound ? short(c.measured / c.bound) : "" })));
  const box = add(main, "div", undefined, "charts");
  const theorems = checks.filter(c => /T=\d+$/.test(c.id) && c.bound > 0 && /theorem|corollary/.test(c.id)).map(c => {
    const parts = c.id.split("/"), beyond = parts[0] === "beyond" || parts[0] === "corollary";
    return { t: Number(c.id.match(/T=(\d+)$/)[1]), statement: beyond ? parts[1] : parts[0], problem: beyond ? (parts.length > 3 ? parts[2] : "convex") : parts[1], measured: c.measured, bound: c.bound, ratio: c.measured / c.bound };
  });
  unique(theorems.map(t => t.statement)).forEach(s => {
    const values = theorems.filter(t => t.statement === s);
    chart(box, lines(values, { x: "t", y: "measured", series: "problem", seriesTitle: "problem", xTitle: "T", yTitle: "regret", title: s, subtitle: "measured (lines) and bound (dashed)",
      bounds: values.map(v => ({ ...v, algorithm: v.problem, bound_name: s })),
      tooltip: [{ field: "problem" }, { field: "t", title: "T", format: "," }, { field: "measured", format: ".4g" }, { field: "bound", format: ".4g" }, { field: "ratio", format: ".3g" }] }), "check-" + s);
  });
  unique(data.paper.stability.map(s => s.problem)).forEach(problem => {
    const values = data.paper.stability.filter(s => s.problem === problem).map(s => ({ ...s, lo: Math.max(s.distance - 2 * s.se, 0.1 * s.distance), hi: s.distance + 2 * s.se }));
    chart(box, lines(values, { x: "m", y: "distance", low: "lo", high: "hi", series: "algorithm", xTitle: "m, rows seen", yTitle: "E‖w - w'‖", title: "Stability against m", subtitle: problem + "; dashed: the paper's rates",
      bounds: values.filter(v => v.algorithm !== "res:invl").map(v => ({ t: v.m, m: v.m, bound: v.bound, bound_name: v.algorithm === "fresh:paper" ? "8G/(λm)" : "40G/(λm)", algorithm: v.algorithm })),
      tooltip: [{ field: "algorithm" }, { field: "m", format: "," }, { field: "distance", title: "E‖w - w'‖", format: ".3g" }, { field: "se", title: "standard error", format: ".2g" }, { field: "bound", title: "bound", format: ".3g" }] }), "stability-" + problem);
  });
  if (data.paper.memory.length) {
    const values = data.paper.memory.map(m => ({ x: m.round / m.t, live: m.live, T: "T = " + m.t.toLocaleString("en") }));
    chart(box, { title: { text: "Rows held by the replay plan", subtitle: "as a share of T; the limit of the peak is 0.1994", anchor: "start" }, width: "container", height: 300, data: { values },
      layer: [{ params: [pick("T")], mark: { type: "line", strokeWidth: 2 }, encoding: { x: { field: "x", type: "quantitative", title: "round / T" }, y: { field: "live", type: "quantitative", title: "rows held / T" }, color: colour("T", unique(values.map(v => v.T)), "horizon"), opacity: faded,
        tooltip: [{ field: "T" }, { field: "x", title: "round / T", format: ".2f" }, { field: "live", title: "rows held / T", format: ".4f" }] } },
        { data: { values: [{ y: 0.19935 }] }, mark: { type: "rule", strokeDash: [6, 4] }, encoding: { y: { field: "y", type: "quantitative" } } }] }, "memory");
  }
}

// Experiments, problem by problem.
for (const problem of unique(data.points.map(p => p.problem))) {
  const points = data.points.filter(p => p.problem === problem), curves = data.curves.filter(c => c.problem === problem);
  const horizons = unique(points.map(p => p.t)).sort((a, b) => a - b), most = horizons[horizons.length - 1];
  const facts = data.problems.find(f => f.problem === problem && f.t === most);
  add(main, "h2", problem);
  if (facts) {
    const [g, beta, lambda, l, d, sigma] = facts.constants, show = x => x < 0 ? "unknown" : short(x);
    add(main, "p", `At T = ${most.toLocaleString("en")}: G = ${show(g)}, β = ${show(beta)}, λ = ${show(lambda)}, κ = ${lambda > 0 ? short(beta / lambda) : "∞"}, L = ${show(l)}, D = ${show(d)}, σ* = ${show(sigma)}; certified gap of w* ${short(facts.gap)}.`, "note");
  }
  const box = add(main, "div", undefined, "charts");
  const tips = [{ field: "algorithm" }, { field: "t", title: "T", format: "," }, { field: "regret", format: ".4g" }, { field: "se", title: "standard error", format: ".2g" }, { field: "n", title: "trials" }, { field: "bound_name", title: "bound" }, { field: "bound", title: "its value", format: ".4g" }, { field: "ratio", title: "regret / bound", format: ".3g" }];
  if (horizons.length > 1) {
    const bounds = points.filter(p => p.bound !== null);
    chart(box, lines(points, { x: "t", y: "regret", low: "lo", high: "hi", series: "algorithm", xTitle: "T", yTitle: "regret", title: "Regret against T", subtitle: bounds.length ? "dashed: the bounds" : "", bounds, tooltip: tips }), "regret-" + problem);
    const ratios = points.filter(p => p.ratio > 0);
    if (ratios.length) chart(box, lines(ratios, { x: "t", y: "ratio", series: "algorithm", xTitle: "T", yTitle: "regret / bound", title: "How loose the bounds are", tooltip: tips }), "ratio-" + problem);
  }
  const curveTips = [{ field: "algorithm" }, { field: "round", format: "," }, { field: "regret", format: ".4g" }, { field: "instant", title: "per round", format: ".3g" }];
  chart(box, lines(curves, { x: "round", y: "regret", low: "lo", high: "hi", noPoints: true, series: "algorithm", xTitle: "round t", yTitle: "regret so far", title: "Regret within a run", subtitle: "T = " + most.toLocaleString("en"), tooltip: curveTips }), "curve-" + problem);
  chart(box, lines(curves, { x: "round", y: "instant", noPoints: true, series: "algorithm", xTitle: "round t", yTitle: "regret per round", title: "Instantaneous regret", subtitle: "T = " + most.toLocaleString("en") + ", mean between the marked rounds", tooltip: curveTips }), "instant-" + problem);
  const steps = data.steps.filter(s => s.problem === problem);
  if (steps.length) chart(box, lines(steps, { x: "round", y: "eta", noPoints: true, series: "schedule", seriesTitle: "schedule", xTitle: "round t", yTitle: "η", title: "Step sizes", tooltip: [{ field: "schedule" }, { field: "round", format: "," }, { field: "eta", title: "η", format: ".4g" }] }), "steps-" + problem);
  table(main, [{ title: "T", key: "T" }, { title: "algorithm", key: "algorithm", text: true }, { title: "trials", key: "n" }, { title: "regret", key: "r" }, { title: "minus first, same orders", key: "v" }, { title: "late F - F*", key: "l" }, { title: "bound", key: "b" }, { title: "theorem", key: "bound_name", text: true }, { title: "ratio", key: "q" }],
    points.map(p => ({ ...p, T: p.t.toLocaleString("en"), r: withError(p.regret, p.se), v: p.versus_first_se || p.versus_first ? withError(p.versus_first, p.versus_first_se) : "", l: withError(p.late, p.late_se), b: short(p.bound), q: short(p.ratio) })));
}
if (data.errors.length) {
  add(main, "h2", "Not run");
  const list = add(main, "ul");
  data.errors.forEach(e => add(list, "li", e));
}
add(main, "p", `Seed ${data.seed}. Every number can be had again from the seed on any machine.`, "note");

// Theme: what the system says, until the button is pressed.
const button = document.getElementById("theme");
function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  button.textContent = dark ? "Light theme" : "Dark theme";
  drawAll();
}
button.addEventListener("click", () => setTheme(document.documentElement.dataset.theme !== "dark"));
setTheme(window.matchMedia && matchMedia("(prefers-color-scheme: dark)").matches);
