// Measures the package in Chromium, beside what an app would use instead, and prints tables. `cargo xtask bench` starts it.
import { Browser } from "./browser.mjs";
import { frames } from "./frames.mjs";
import { latency } from "./latency.mjs";
import { schemas } from "./schemas.mjs";
import { start } from "./start.mjs";

const MEASURES = { frames, schemas, latency, start };

const wanted = process.argv.slice(2);
const browser = await Browser.launch();
try {
  for (const [name, measure] of Object.entries(MEASURES)) {
    if (wanted.length === 0 || wanted.includes(name)) await measure(browser);
  }
} finally {
  await browser.close();
}
