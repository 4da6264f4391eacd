// Opens a report from file:// in headless Chromium and checks: no console error, every chart drawn (pixels counted), hover shows
// numbers, a click on a legend fades the other series, the theme changes, and no request leaves the page.
//
//   node crates/rooco-lab/tests/report_in_chromium.mjs REPORT.html [FOLDER FOR SCREENSHOTS]
//
// Needs `chromium` on the path (Debian: apt-get install chromium) and node 20.10 or newer; no npm packages. It speaks the
// DevTools protocol over a WebSocket. Exit code 0: all good; 1: a check failed; 77: there is no chromium.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, mkdirSync, writeFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [report, shots] = process.argv.slice(2);
if (!report) { console.error("usage: report_in_chromium.mjs REPORT.html [FOLDER]"); process.exit(2); }
const browser = ["chromium", "chromium-browser", "google-chrome"].find(b => spawnSync("which", [b]).status === 0);
if (!browser) { console.error("no chromium: skipped"); process.exit(77); }
if (typeof WebSocket === "undefined") {
  // node 20 has it behind a flag.
  if (process.execArgv.includes("--experimental-websocket")) { console.error("this node has no WebSocket: skipped"); process.exit(77); }
  process.exit(spawnSync(process.execPath, ["--experimental-websocket", ...process.argv.slice(1)], { stdio: "inherit" }).status ?? 1);
}

const profile = mkdtempSync(join(tmpdir(), "rooco-report-"));
const child = spawn(browser, ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-port=0",
  "--window-size=1240,1400", `--user-data-dir=${profile}`, "about:blank"], { stdio: ["ignore", "ignore", "pipe"] });
const failures = [];
const check = (good, what) => { console.log((good ? "ok   " : "FAIL ") + what); if (!good) failures.push(what); };
const sleep = ms => new Promise(done => setTimeout(done, ms));

const endpoint = await new Promise((done, fail) => {
  let text = "";
  child.stderr.on("data", d => { text += d; const m = text.match(/ws:\/\/\S+/); if (m) done(m[0]); });
  child.on("exit", () => fail(new Error("chromium ended:\n" + text)));
  setTimeout(() => fail(new Error("chromium did not start:\n" + text)), 60000);
});
const socket = new WebSocket(endpoint);
await new Promise((done, fail) => { socket.onopen = done; socket.onerror = fail; });
let next = 1;
const waiting = new Map(), requests = [], problems = [];
socket.onmessage = ({ data }) => {
  const m = JSON.parse(data);
  if (m.id) { const w = waiting.get(m.id); waiting.delete(m.id); m.error ? w.fail(new Error(m.error.message)) : w.done(m.result); return; }
  if (m.method === "Network.requestWillBeSent") requests.push(m.params.request.url);
  if (m.method === "Runtime.exceptionThrown") problems.push(m.params.exceptionDetails.exception?.description ?? m.params.exceptionDetails.text);
  if (m.method === "Runtime.consoleAPICalled" && ["error", "warning", "assert"].includes(m.params.type)) problems.push(m.params.type + ": " + m.params.args.map(a => a.value ?? a.description).join(" "));
  // The last one is about the counting of pixels here.
  if (m.method === "Log.entryAdded" && !/willReadFrequently/.test(m.params.entry.text) && ["error", "warning"].includes(m.params.entry.level)) problems.push("log: " + m.params.entry.text);
};
let session;
const send = (method, params = {}) => new Promise((done, fail) => {
  const id = next++;
  waiting.set(id, { done, fail });
  socket.send(JSON.stringify({ id, method, params, sessionId: session }));
});
const run = async expression => {
  const r = await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
  if (r.exceptionDetails) throw new Error(r.exceptionDetails.exception?.description ?? r.exceptionDetails.text);
  return r.result.value;
};
const shot = async name => {
  if (!shots) return;
  mkdirSync(shots, { recursive: true });
  const height = await run("document.documentElement.scrollHeight");
  const { data } = await send("Page.captureScreenshot", { format: "png", captureBeyondViewport: true, clip: { x: 0, y: 0, width: 1240, height: Math.min(height, 8000), scale: 1 } });
  writeFileSync(join(shots, name + ".png"), Buffer.from(data, "base64"));
};
// Pixels of each canvas that are not transparent and not the background: lines, labels, bands.
const INK = `[...document.querySelectorAll(".chart canvas")].map(c => {
  const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data; let n = 0, colours = new Set();
  for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 40) { n++; const hi = Math.max(d[i], d[i+1], d[i+2]), lo = Math.min(d[i], d[i+1], d[i+2]); if (hi - lo > 60) colours.add((d[i] >> 5) * 64 + (d[i+1] >> 5) * 8 + (d[i+2] >> 5)); }
  return { id: c.closest(".chart").id, ink: n, colours: colours.size, right: c.getBoundingClientRect().right - c.closest(".chart").getBoundingClientRect().right };
})`;
// Waits until the drawing is done, counted in animation frames.
const settle = () => run("window.drawn.then(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true)))))");

try {
  const { targetId } = await send("Target.createTarget", { url: "about:blank" });
  session = (await send("Target.attachToTarget", { targetId, flatten: true })).sessionId;
  for (const domain of ["Page", "Runtime", "Network", "Log"]) await send(domain + ".enable");
  await send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: "light" }] });
  await send("Page.navigate", { url: pathToFileURL(resolve(report)).href });
  for (let k = 0; k < 100 && !(await run("document.readyState === 'complete' && !!window.drawn")); k++) await sleep(100);
  await settle();

  const charts = await run(INK), boxes = await run("document.querySelectorAll('.chart').length");
  check(boxes > 0 && charts.length === boxes, `${boxes} charts, ${charts.length} canvases`);
  for (const c of charts) {
    check(c.ink > 1500 && c.colours >= 2, `drawn: ${c.id} (${c.ink} pixels, ${c.colours} colours)`);
    if (c.right > 0.5) check(false, `${c.id} is cut off on the right by ${c.right} pixels`);
  }
  check(await run("document.querySelectorAll('table tbody tr').length") > 0, "tables have rows");
  await shot("light");

  // Hover: the first chart with points; walk over it until the tooltip shows a number.
  const rect = await run("(() => { const c = document.querySelector('.chart canvas'); c.scrollIntoView({ block: 'center' }); const r = c.getBoundingClientRect(); return { x: r.x, y: r.y, w: r.width, h: r.height }; })()");
  let tip = "";
  search: for (let y = 0.15; y < 0.85; y += 0.02) for (let x = 0.1; x < 0.7; x += 0.02) {
    await send("Input.dispatchMouseEvent", { type: "mouseMoved", x: rect.x + rect.w * x, y: rect.y + rect.h * y });
    tip = await run("(t => t && t.classList.contains('visible') ? t.innerText : '')(document.querySelector('#vg-tooltip-element'))");
    if (/\d/.test(tip)) break search;
  }
  check(/\d/.test(tip), `hover shows numbers: ${tip.replace(/\s+/g, " ").slice(0, 90)}`);
  await send("Input.dispatchMouseEvent", { type: "mouseMoved", x: 2, y: 2 });

  // Toggle: a click on a name in the legend fades the other series. The scene graph says where the name stands.
  const spot = await run(`window.drawn.then(views => {
    const view = views[0].view, canvas = document.querySelector(".chart canvas").getBoundingClientRect(), origin = view.origin(), found = [];
    const walk = (mark, x0, y0) => (mark.items ?? []).forEach(item => {
      const x = x0 + (item.x ?? 0), y = y0 + (item.y ?? 0);
      // The bounds of a label are relative to its group, not to itself.
      if (mark.role === "legend-label") found.push({ x: x0 + (item.bounds.x1 + item.bounds.x2) / 2, y: y0 + (item.bounds.y1 + item.bounds.y2) / 2 });
      (item.items ?? []).forEach(inner => walk(inner, x, y));
    });
    walk(view.scenegraph().root, 0, 0);
    return found.length ? { x: canvas.x + origin[0] + found[0].x, y: canvas.y + origin[1] + found[0].y } : null;
  })`);
  const coloursOfFirst = async () => (await run(INK))[0].colours;
  const before = await coloursOfFirst();
  for (const type of ["mouseMoved", "mousePressed", "mouseReleased"]) await send("Input.dispatchMouseEvent", { type, ...spot, button: type === "mouseMoved" ? "none" : "left", clickCount: 1 });
  await settle();
  const after = await coloursOfFirst();
  check(after < before, `a click on a legend fades the other series (${before} colours, then ${after})`);

  await run("document.getElementById('theme').click()");
  await settle();
  check(await run("document.documentElement.dataset.theme === 'dark' && getComputedStyle(document.body).backgroundColor === 'rgb(20, 24, 29)'"), "the dark theme is dark");
  check((await run(INK)).every(c => c.ink > 1500), "every chart is drawn in the dark theme");
  await shot("dark");

  const outside = requests.filter(u => !/^(file|data|blob|about):/.test(u));
  check(outside.length === 0, `no request leaves the page (${requests.length} local)` + outside.join(" "));
  check(problems.length === 0, "no console error" + (problems.length ? ": " + problems.join(" | ") : ""));
} catch (e) {
  check(false, e.stack ?? String(e));
} finally {
  socket.close();
  child.kill();
  await sleep(300);
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
}
console.log(failures.length ? `${failures.length} checks failed` : "the report works");
process.exit(failures.length ? 1 : 0);
