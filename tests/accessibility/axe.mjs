// Opens a page wide and narrow in Chromium, runs axe on it and prints what it found as JSON.
// usage: node axe.mjs CHROMIUM PAGE; packages playwright-core and axe-core are looked for in NODE_PATH.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [executablePath, page] = process.argv.slice(2);
const require = createRequire(process.env.NODE_PATH + "/");
const { chromium } = require("playwright-core");
const axe = require("axe-core");

const browser = await chromium.launch({
  executablePath,
  args: [
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
  ],
});
const found = [];
const asked = [];
for (const width of [1200, 360]) {
  // axe is a script of ours: the page's own policy allows none.
  const context = await browser.newContext({ viewport: { width, height: 900 }, bypassCSP: true });
  const tab = await context.newPage();
  tab.on("request", (request) => asked.push(request.url().slice(0, 100)));
  await tab.goto(pathToFileURL(page).href);
  await tab.evaluate(axe.source);
  const result = await tab.evaluate(() => globalThis.axe.run(document));
  const wide = await tab.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
  if (wide) found.push({ width, id: "page-scrolls-sideways", impact: "serious", nodes: [] });
  for (const one of result.violations) {
    found.push({ width, id: one.id, impact: one.impact, nodes: one.nodes.slice(0, 3).map((n) => n.html.slice(0, 200)) });
  }
  await context.close();
}
await browser.close();
console.log(JSON.stringify({ found, asked: asked.filter((url) => !url.startsWith("file:") && !url.startsWith("data:")) }));
