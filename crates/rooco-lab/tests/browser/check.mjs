// Opens each report from file:// in headless Chromium and checks what its reader relies on: no console error, no request that leaves the
// page, every chart drawn (pixels counted), hover shows numbers, legends and the bounds switch work, both themes, a narrow window, print.
//
//   node check.mjs CHROMIUM FOLDER REPORT.html...      (run.sh installs what is needed)
import { chromium } from "playwright-core";
import { statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [executablePath, folder, ...reports] = process.argv.slice(2);
const failures = [];
const check = (good, what) => { if (!good || process.env.VERBOSE) console.log((good ? "ok   " : "FAIL ") + what); if (!good) failures.push(what); };

// Only a check that fails waits so long, however busy the machine is.
const LIMIT = 300_000;
const browser = await chromium.launch({ executablePath, timeout: LIMIT, args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"] });
const counter = await browser.newPage();

// Pixels that are neither grey nor background, and how many different colours they have.
async function coloured(locator) {
  const png = (await locator.screenshot()).toString("base64");
  return counter.evaluate(async png => {
    const image = new Image();
    image.src = "data:image/png;base64," + png;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(image, 0, 0);
    const d = context.getImageData(0, 0, canvas.width, canvas.height).data, hues = new Map();
    let pixels = 0;
    for (let i = 0; i < d.length; i += 4) {
      if (Math.max(d[i], d[i + 1], d[i + 2]) - Math.min(d[i], d[i + 1], d[i + 2]) < 70) continue;
      pixels++;
      const hue = (d[i] >> 5) * 64 + (d[i + 1] >> 5) * 8 + (d[i + 2] >> 5);
      hues.set(hue, (hues.get(hue) ?? 0) + 1);
    }
    return { pixels, hues: [...hues.values()].filter(n => n > 20).length };
  }, png);
}

for (const report of reports) {
  const name = basename(dirname(report));
  const say = (good, what) => check(good, `${name}: ${what}`);
  const size = statSync(report).size;
  say(size < 1.5e6, `${(size / 1e6).toFixed(2)} MB`);
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: "light" });
  page.setDefaultTimeout(LIMIT);
  const problems = [], outside = [];
  page.on("console", m => ["error", "warning"].includes(m.type()) && problems.push(m.text()));
  page.on("pageerror", e => problems.push(String(e)));
  page.on("request", r => /^(file|data|blob|about):/.test(r.url()) || outside.push(r.url()));
  const settle = () => page.evaluate(() => window.drawn.then(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))));
  await page.goto(pathToFileURL(resolve(report)).href);
  await settle();

  const charts = page.locator(".chart"), count = await charts.count();
  say(count > 0 && await page.locator(".chart svg.marks").count() === count, `${count} charts, each with a picture`);
  for (let k = 0; k < count; k++) {
    const c = charts.nth(k), { pixels, hues } = await coloured(c);
    say(pixels > 250 && hues >= 1, `drawn: ${await c.getAttribute("id")} (${pixels} coloured pixels, ${hues} colours)`);
  }
  say(await page.locator("tbody tr").count() > 0, "tables have rows");
  await page.screenshot({ path: join(folder, `${name}-light.png`), fullPage: true });

  // Hover: anywhere in a line chart the nearest point answers.
  const lines = page.locator(".chart:has(.role-legend)").first();
  await lines.scrollIntoViewIfNeeded();
  const box = await lines.locator("svg.marks").boundingBox();
  await page.mouse.move(box.x + 0.55 * box.width, box.y + 100);
  await page.mouse.move(box.x + 0.56 * box.width, box.y + 102);
  const tip = page.locator("#vg-tooltip-element.visible");
  await tip.waitFor({ timeout: 60_000 }).catch(() => {});
  const text = await tip.count() ? (await tip.innerText()).replace(/\s+/g, " ") : "";
  say(/\d/.test(text), `hover shows numbers: ${text}`);
  await page.mouse.move(2, 2);

  // Toggle: a click on a name fades the other series, a double click brings them back.
  const legend = lines.locator(".role-legend-label text").first();
  if (await lines.locator(".role-legend-label text").count() > 1) {
    const before = (await coloured(lines)).pixels;
    await legend.click();
    await settle();
    const alone = (await coloured(lines)).pixels;
    say(alone < 0.8 * before, `a click on a name fades the others (${before} pixels, then ${alone})`);
    await legend.dblclick();
    await settle();
    const again = (await coloured(lines)).pixels;
    say(again > 0.95 * before, `a double click shows all (${again})`);
  }
  if (await page.locator("#bounds-label").isVisible()) {
    const dashed = () => page.locator(".chart path[stroke-dasharray='5,4']").count();
    const on = await dashed();
    await page.locator("#bounds").uncheck();
    await settle();
    const off = await dashed();
    say(on > 0 && off === 0, `the switch hides the bounds (${on} dashed lines, then ${off})`);
    await page.locator("#bounds").check();
    await settle();
  }
  const statement = page.locator("details.statement").first();
  if (await statement.count()) {
    await statement.locator("summary").click();
    say(/rooco lab paper .*--only /.test(await statement.locator("code").first().innerText()), "a statement opens and shows its command");
  }

  await page.locator("#theme").click();
  const colours = await page.evaluate(() => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector(".chart .role-axis-label text")).fill]);
  const brightness = colour => colour.match(/\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0) / 3;
  say(brightness(colours[0]) < 60 && brightness(colours[1]) > 180, `the dark theme is dark, and its axes can be read (${colours.join(", ")})`);
  const dark = await coloured(charts.first());
  say(dark.pixels > 250, "charts are drawn in the dark theme");
  await page.screenshot({ path: join(folder, `${name}-dark.png`), fullPage: true });

  // Print from the dark theme: black on white, nothing cut off.
  await page.emulateMedia({ media: "print" });
  const print = await page.evaluate(() => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector(".chart .role-axis-label text")).fill, getComputedStyle(document.getElementById("theme").parentNode).display]);
  say(brightness(print[0]) > 250 && brightness(print[1]) < 60 && print[2] === "none", `prints dark on white (${print.join(", ")})`);
  await page.pdf({ path: join(folder, `${name}.pdf`), format: "A4" });
  await page.emulateMedia({ media: "screen" });

  const wide = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  say(await wide() <= 0, "the page is as wide as the window");
  await page.setViewportSize({ width: 420, height: 800 });
  // The charts follow the window in their own time.
  const fits = await page.waitForFunction(() => document.documentElement.scrollWidth <= innerWidth, null, { timeout: 60_000 }).then(() => true, () => false);
  say(fits, "and in a narrow one");

  say(outside.length === 0, "no request leaves the page" + outside.map(u => " " + u).join(""));
  say(problems.length === 0, "no console error" + problems.map(p => " | " + p).join(""));
  await page.close();
}
await browser.close();
console.log(failures.length ? `${failures.length} checks failed` : `${reports.length} reports work in ${executablePath}; screenshots and PDFs are in ${folder}`);
process.exit(failures.length ? 1 : 0);
