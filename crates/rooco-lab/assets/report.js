"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const main = document.getElementById("main"), nav = document.getElementById("nav");
// Readable on white and on black, so that a change of theme need not redraw; all other ink is `currentColor`.
const colours = ["#2f81d8", "#e2652a", "#16a37b", "#c464b8", "#cf9a10", "#3bb2cf", "#8b74e6", "#93a02c", "#b5714f", "#d94f7c", "#7d8b99", "#4fa357", "#5a6fd0", "#bf7f9d", "#a58b3a", "#4c9a9a", "#c2504f", "#7fa8d9", "#9c6bbd", "#6f9f3c"];
const unique = list => [...new Set(list)];
const algorithms = unique(data.points.map(p => p.algorithm));
const charts = [];            // { node, spec }, drawn again when the bounds are switched

function add(parent, tag, text, cls) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  if (cls) node.className = cls;
  parent.appendChild(node);
  return node;
}
const grouped = n => n.toLocaleString("en");
const superscript = n => String(n).replace(/./g, c => c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]);
const exponential = x => { const [m, e] = x.toExponential(2).split("e"); return `${m}·10${superscript(Number(e))}`; };
function short(x) {
  if (x === null || x === undefined || Number.isNaN(x)) return "";
  const a = Math.abs(x);
  if (a !== 0 && (a < 1e-3 || a >= 1e6)) return exponential(x);
  return a >= 1e4 ? grouped(Math.round(x)) : String(Number(x.toPrecision(4)));
}
// An error gets two digits, and its value as many decimals.
function withError(x, se) {
  if (x === null || x === undefined) return "";
  if (!se) return short(x);
  const a = Math.abs(x);
  if (a < 1e-3 || a >= 1e6) return exponential(x) + " ± " + exponential(se);
  const digits = Math.max(0, Math.min(6, 1 - Math.floor(Math.log10(se))));
  return x.toFixed(digits) + " ± " + se.toFixed(digits);
}

// Axes: powers of ten, with 2 and 5 where there are few.
function tick(v) {
  if (v === 0) return "0";
  const e = Math.floor(Math.log10(Math.abs(v)) + 1e-9);
  if (e >= -2 && e < 4) return String(Number(v.toPrecision(6)));
  const m = Number((v / 10 ** e).toPrecision(3));
  return (m === 1 ? "" : m + "·") + "10" + superscript(e);
}
vega.expressionFunction("tick", tick);
function logTicks(lo, hi) {
  const first = Math.floor(Math.log10(lo)), last = Math.ceil(Math.log10(hi)), out = steps => {
    const every = steps.length === 1 ? Math.ceil((last - first) / 8) : 1, list = [];
    for (let e = first; e <= last; e++) if ((e % every) === 0) for (const m of steps) { const v = m * 10 ** e; if (v >= lo * 0.999 && v <= hi * 1.001) list.push(Number(v.toPrecision(6))); }
    return list;
  };
  return [[1], [1, 2, 5], [1, 1.5, 2, 3, 5, 7]].map(out).find(list => list.length >= 3);
}
function axis(a, values, side) {
  const base = { title: a.title || null, grid: true, labelExpr: "tick(datum.value)", labelOverlap: true };
  if (a.scale === "linear") return { scale: { type: "linear", zero: true, nice: true }, axis: { ...base, tickCount: 6, labelExpr: undefined } };
  const shown = values.filter(v => Number.isFinite(v) && (a.scale !== "log" || v > 0));
  const lo = Math.min(...shown), hi = Math.max(...shown);
  if (a.scale === "symlog") {
    const ticks = [0]; for (let v = 1; v <= hi * 1.001; v *= 10) ticks.push(v);
    return { scale: { type: "symlog", constant: 1, domain: [0, hi * 1.25], nice: false }, axis: { ...base, values: ticks } };
  }
  const air = side === "y" ? Math.max(1.12, (hi / lo) ** 0.03) : Math.max(1.03, (hi / lo) ** 0.02);
  const ticks = logTicks(lo / air, hi * air);
  return { scale: { type: "log", domain: [lo / air, hi * air], nice: false }, axis: { ...base, ...(ticks ? { values: ticks } : { tickCount: 4 }) } };
}
function palette(keys) {
  // An algorithm has the same colour in every chart of the page.
  const known = keys.every(k => algorithms.includes(k)) ? algorithms : keys;
  return keys.map(k => colours[known.indexOf(k) % colours.length]);
}
const pick = field => ({ name: "pick", select: { type: "point", fields: [field] }, bind: "legend" });
const faded = on => ({ condition: { param: "pick", value: on }, value: on * 0.07 });

function lines(c, showBounds) {
  const series = c.series.filter(s => showBounds || s.bound === undefined);
  const keys = unique(c.series.map(s => s.key));
  const values = series.flatMap(s => s.x.map((x, i) => ({ k: s.key, b: s.bound ?? "", x, y: s.y[i], lo: s.low?.[i], hi: s.high?.[i],
    name: s.bound === undefined ? s.key : `${s.key}: ${s.bound}`, xs: Number.isInteger(x) ? grouped(x) : short(x),
    ys: s.low ? withError(s.y[i], (s.high[i] - s.low[i]) / 4) : short(s.y[i]) }))).filter(v => c.y.scale !== "log" || v.y > 0);
  const x = { field: "x", type: "quantitative", ...axis(c.x, values.map(v => v.x), "x") }, yAxis = axis(c.y, values.map(v => v.y), "y");
  const y = field => ({ field, type: "quantitative", ...yAxis });
  const floor = yAxis.scale.domain?.[0] ?? -1e300, some = c.y.scale === "linear" ? "isValid(datum.hi)" : "datum.hi > 0";
  const columns = Math.max(1, Math.floor(62 / (Math.max(...keys.map(k => k.length)) + 5)));
  const color = { field: "k", type: "nominal", title: null, scale: { domain: keys, range: palette(keys) }, legend: { orient: "bottom", columns, symbolType: "stroke", symbolStrokeWidth: 3, symbolSize: 140, labelLimit: 260, offset: 6, columnPadding: 14 } };
  const tooltip = [{ field: "name", title: c.legend }, { field: "xs", title: c.x.title }, { field: "ys", title: c.y.title }];
  const few = Math.max(...series.map(s => s.x.length)) <= 12;
  const layer = [
    { params: [pick("k")], transform: [{ filter: "datum.b === ''" }], mark: { type: "line", strokeWidth: 2, strokeJoin: "round", clip: true }, encoding: { x, y: y("y"), color, opacity: faded(1) } },
    ...(!series.some(s => s.low) ? [] : [{ transform: [{ filter: `datum.b === '' && ${some}` }, { calculate: `max(datum.lo, ${floor})`, as: "low" }], mark: { type: "area", clip: true }, encoding: { x, y: y("low"), y2: { field: "hi" }, color: { ...color }, opacity: faded(0.16) } }]),
  ];
  if (series.some(s => s.bound !== undefined)) layer.push({ transform: [{ filter: "datum.b !== ''" }], mark: { type: "line", strokeDash: [5, 4], strokeWidth: 1.5 }, encoding: { x, y: y("y"), color: { ...color }, detail: { field: "b" }, opacity: faded(0.85) } });
  layer.push({ params: [{ name: "hover", select: { type: "point", on: "pointerover", nearest: true, clear: "pointerout" } }], mark: { type: "point", filled: true, size: few ? 34 : 46 },
    encoding: { x, y: y("y"), color: { ...color }, tooltip, opacity: { condition: [{ param: "hover", empty: false, value: 1 }, ...(few ? [{ test: { and: [{ param: "pick" }, "datum.b === ''"] }, value: 1 }] : [])], value: 0 } } });
  return { width: "container", height: 270, autosize: { type: "fit-x", contains: "padding" }, data: { values }, layer };
}
function dots(c) {
  const keys = c.series.map(s => s.key);
  const values = c.series.map(s => ({ k: s.key, v: s.y[0], lo: s.low?.[0], hi: s.high?.[0], ys: s.low ? withError(s.y[0], (s.high[0] - s.low[0]) / 4) : short(s.y[0]) })).filter(v => c.x.scale === "linear" || v.v > 0);
  const xAxis = axis(c.x, values.map(v => v.v), "x");
  const x = field => ({ field, type: "quantitative", ...xAxis }), floor = xAxis.scale.domain?.[0] ?? -1e300;
  const y = { field: "k", type: "nominal", sort: keys, axis: { title: null, labelLimit: 220, grid: true } };
  const color = { field: "k", type: "nominal", scale: { domain: keys, range: palette(keys) }, legend: null };
  const tooltip = [{ field: "k", title: c.legend }, { field: "ys", title: c.x.title }];
  return { width: "container", height: 20 * values.length, autosize: { type: "fit-x", contains: "padding" }, data: { values }, layer: [
    ...(!c.series.some(s => s.low) ? [] : [{ transform: [{ calculate: `max(datum.lo, ${floor})`, as: "low" }], mark: { type: "rule", strokeWidth: 2, clip: true }, encoding: { x: x("low"), x2: { field: "hi" }, y, color } }]),
    { mark: { type: "point", filled: true, size: 80 }, encoding: { x: x("v"), y, color: { ...color }, tooltip } }] };
}
// Cells from blue (below zero) over nothing to orange, whatever the theme is.
function heat(c) {
  const rows = c.series.map(s => s.key), values = c.series.flatMap(s => s.x.map((x, i) => ({ r: s.key, c: c.places[x], v: s.y[i], vs: short(s.y[i]), o: Math.abs(s.y[i]) })));
  const most = Math.max(...values.map(v => v.o), 1e-300);
  const x = { field: "c", type: "ordinal", sort: c.places, axis: { title: c.x.title, labelAngle: c.places.some(p => p.length > 6) ? -45 : 0, labelOverlap: true, labelLimit: 90 } };
  const y = { field: "r", type: "ordinal", sort: rows, axis: { title: c.y.title, labelLimit: 120, labelOverlap: true } };
  const color = { field: "v", type: "quantitative", title: null, scale: { domain: [-most, 0, most], range: [colours[0], "#9aa3ab22", colours[1]], interpolate: "rgb" }, legend: { orient: "bottom", gradientLength: 220, tickCount: 5, format: ".2g" } };
  const tooltip = [{ field: "r", title: c.y.title }, { field: "c", title: c.x.title }, { field: "vs", title: c.legend }];
  return { width: "container", height: Math.max(120, Math.min(270, 22 * rows.length)), autosize: { type: "fit-x", contains: "padding" }, data: { values }, mark: { type: "rect" }, encoding: { x, y, color, tooltip } };
}
function chart(parent, c) {
  const box = add(parent, "div", undefined, "chart");
  box.id = c.id;
  add(box, "h3", c.title);
  add(box, "div", c.subtitle, "sub");
  charts.push({ node: add(box, "div"), spec: bounds => c.kind === "dots" ? dots(c) : c.kind === "heat" ? heat(c) : lines(c, bounds) });
}
function drawAll() {
  const ink = "currentColor";
  const config = { background: null, font: "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif", view: { stroke: null },
    axis: { gridColor: ink, gridOpacity: 0.11, domainColor: ink, domainOpacity: 0.4, tickColor: ink, tickOpacity: 0.4, labelColor: ink, titleColor: ink, labelFontSize: 11, titleFontSize: 12, titleFontWeight: 500, labelOpacity: 0.85 },
    legend: { labelColor: ink, titleColor: ink, labelFontSize: 12 } };
  const bounds = document.getElementById("bounds").checked;
  window.drawn = Promise.all(charts.map(c => vegaEmbed(c.node, { $schema: "https://vega.github.io/schema/vega-lite/v6.json", ...c.spec(bounds) },
    { renderer: "svg", config, tooltip: { theme: "custom" }, actions: { export: { svg: true, png: true }, source: false, compiled: false, editor: false } })));
  window.drawn.then(all => all.forEach((r, k) => {
    // vega-lite takes a double click for "show all" only where nothing is drawn; here it may be anywhere in the chart.
    charts[k].node.ondblclick = () => { if (r.view.getState().data.pick_store) r.view.change("pick_store", vega.changeset().remove(vega.truthy)).run(); };
  }));
  return window.drawn;
}
function table(parent, heads, rows) {
  const box = add(parent, "div", undefined, "scroll"), t = add(box, "table"), head = add(add(t, "thead"), "tr");
  heads.forEach(h => add(head, "th", h.title, (h.text ? "text" : "") + (h.heat ? " heat" : "")));
  const body = add(t, "tbody");
  rows.forEach(r => {
    const tr = add(body, "tr", undefined, (r.fail ? "fail" : "") + (r.block ? " block" : ""));
    heads.forEach(h => {
      const td = add(tr, "td", undefined, (h.text ? "text" : "") + (h.wrap ? " wrap" : "") + (h.heat ? " heat" : ""));
      if (h.code) add(td, "code", r[h.key]); else td.textContent = r[h.key] ?? "";
      if (h.heat && r[h.key + "Back"]) td.style.background = r[h.key + "Back"];
    });
  });
}
function section(title, id) {
  const h = add(main, "h2", title);
  h.id = id;
  const a = add(nav, "a", title);
  a.href = "#" + id;
}
function meter(parent, ratio) {
  // Log scale: full at 1, empty at one in ten thousand.
  const bar = add(add(parent, "span", undefined, "meter"), "i");
  bar.style.width = `${100 * Math.max(0.02, Math.min(1, 1 + Math.log10(Math.max(ratio, 1e-4)) / 4))}%`;
  add(parent, "span", `worst ratio ${short(ratio)}`, "ratio");
}

document.getElementById("about").textContent = data.about;
document.getElementById("facts").textContent = `Seed ${data.seed}, rooco ${data.version}. Every number can be had again from the seed on any machine.`;

// Sections that come as they are: notes, charts, tables of text.
for (const part of data.sections ?? []) {
  section(part.title, "part-" + nav.children.length);
  part.notes.forEach(n => add(main, "p", n, "note"));
  const drawn = data.charts.filter(c => c.section === part.title);
  if (drawn.length) { const box = add(main, "div", undefined, "charts"); drawn.forEach(c => chart(box, c)); }
  for (const t of part.tables) table(main, t.heads.map((h, k) => ({ title: h, key: "c" + k, text: t.text[k], wrap: t.text[k] })), t.rows.map(r => Object.fromEntries(r.map((v, k) => ["c" + k, v]))));
}

// The statements of the paper.
if (data.checks.length) {
  const good = data.checks.filter(c => c.pass).length, all = data.checks.length;
  const groups = unique(data.checks.map(c => c.label));
  section("Statements", "statements");
  add(main, "p", `${groups.length} statements, ${all} measurements: ${good === all ? "all hold" : `${all - good} fail`}.`, "verdict " + (good === all ? "pass" : "fail"));
  add(main, "p", "A measured expectation is its mean plus three standard errors. Open a statement for its measurements and the command that repeats each one.", "note");
  for (const label of groups) {
    const rows = data.checks.filter(c => c.label === label), pass = rows.every(c => c.pass);
    const box = add(main, "details", undefined, pass ? "statement" : "statement fail"), head = add(box, "summary");
    box.open = !pass;
    add(head, "span", pass ? "✓" : "✗", pass ? "pass" : "fail");
    add(head, "span", label, "name");
    const texts = unique(rows.map(c => c.statement));
    add(head, "span", texts.length === 1 ? texts[0] : texts[0] + ", …", "what");
    add(head, "span", rows.length === 1 ? "1 row" : `${rows.length} rows`, "count");
    const ratios = rows.filter(c => c.bound > 0).map(c => c.measured / c.bound), worst = add(head, "span", undefined, "worst");
    if (ratios.length) meter(worst, Math.max(...ratios));
    table(box, [{ title: "", key: "mark", text: true }, ...(texts.length > 1 ? [{ title: "statement", key: "statement", text: true, wrap: true }] : []), { title: "setting", key: "setting", text: true, wrap: true },
      { title: "measured", key: "m" }, { title: "bound", key: "b" }, { title: "ratio", key: "r" }, { title: "seed", key: "seed" }, { title: "again", key: "command", text: true, code: true }],
      rows.map(c => ({ ...c, mark: c.pass ? "pass" : "FAIL", fail: !c.pass, m: short(c.measured), b: short(c.bound), r: c.bound ? short(c.measured / c.bound) : "" })));
  }
  section("Charts", "charts");
  const box = add(main, "div", undefined, "charts");
  data.charts.filter(c => c.section === "paper").forEach(c => chart(box, c));
}

// An experiment: who is better where, then problem by problem.
const problems = unique(data.points.map(p => p.problem));
const largest = problem => Math.max(...data.points.filter(p => p.problem === problem).map(p => p.t));
if (problems.length && algorithms.length > 1) {
  section("Overview", "overview");
  const first = algorithms[0], at = (problem, algorithm) => data.points.find(p => p.problem === problem && p.algorithm === algorithm && p.t === largest(problem));
  add(main, "p", `Regret at the largest T, as a multiple of ${first}'s. Blue is less, orange more.`, "note");
  table(main, [{ title: "algorithm", key: "algorithm", text: true }, ...problems.map((p, i) => ({ title: p, key: "p" + i, heat: true }))],
    algorithms.map(algorithm => {
      const row = { algorithm };
      problems.forEach((problem, i) => {
        const a = at(problem, algorithm), b = at(problem, first);
        if (!a || !b || !(b.regret > 0)) return;
        const ratio = a.regret / b.regret, strength = Math.min(1, Math.abs(Math.log2(Math.max(ratio, 1e-3))) / 4);
        row["p" + i] = ratio >= 100 ? grouped(Math.round(ratio)) : ratio.toFixed(2);
        row["p" + i + "Back"] = ratio <= 1 ? `rgba(47,129,216,${0.55 * strength})` : `rgba(226,101,42,${0.55 * strength})`;
      });
      return row;
    }));
}
problems.forEach((problem, i) => {
  const points = data.points.filter(p => p.problem === problem), most = largest(problem);
  const facts = data.problems.find(f => f.problem === problem && f.t === most);
  section(problem, "problem-" + i);
  if (facts) {
    const [g, beta, lambda, l, d, sigma] = facts.constants, show = x => x < 0 ? "unknown" : short(x);
    add(main, "p", `At T = ${grouped(most)}: G = ${show(g)}, β = ${show(beta)}, λ = ${show(lambda)}, κ = ${lambda > 0 ? short(beta / lambda) : "∞"}, L = ${show(l)}, D = ${show(d)}, σ* = ${show(sigma)}; w* certified to F - F* ≤ ${short(facts.gap)}.`, "note");
  }
  const box = add(main, "div", undefined, "charts");
  data.charts.filter(c => c.section === problem).forEach(c => chart(box, c));
  const loss = points.some(p => p.loss !== undefined) ? [{ title: "loss on the true distribution", key: "f" }] : [];
  if (loss.length) add(main, "p", "Regret is what the finished model pays more than the truth, over all test events; F* is the loss of the truth.", "note");
  table(main, [{ title: "T", key: "T" }, { title: "algorithm", key: "algorithm", text: true }, { title: "trials", key: "n" }, ...loss, { title: "regret", key: "r" }, { title: `minus ${points[0].algorithm}, same orders`, key: "v" },
    { title: "late F - F*", key: "l" }, { title: "last F - F*", key: "e" }, { title: "bound", key: "b" }, { title: "theorem", key: "bound_name", text: true }, { title: "ratio", key: "q" }],
    points.map((p, k) => ({ ...p, block: k > 0 && points[k - 1].t !== p.t, T: grouped(p.t), f: withError(p.loss, p.loss_se), r: withError(p.regret, p.se), v: p.versus_first_se || p.versus_first ? withError(p.versus_first, p.versus_first_se) : "", l: withError(p.late, p.late_se), e: withError(p.last, p.last_se), b: short(p.bound), q: short(p.ratio) })));
});
if (data.errors.length) {
  section("Not run", "not-run");
  const list = add(main, "ul");
  data.errors.forEach(e => add(list, "li", e));
}

// Theme: what the system says, until the button is pressed.
const button = document.getElementById("theme"), bounds = document.getElementById("bounds");
function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  button.textContent = dark ? "Light" : "Dark";
}
button.addEventListener("click", () => setTheme(document.documentElement.dataset.theme !== "dark"));
setTheme(window.matchMedia && matchMedia("(prefers-color-scheme: dark)").matches);
if (data.sections?.length) document.getElementById("bounds-label").lastChild.textContent = " dashed lines";
document.getElementById("bounds-label").hidden = !data.charts.some(c => c.series.some(s => s.bound !== undefined));
bounds.addEventListener("change", drawAll);
drawAll();
