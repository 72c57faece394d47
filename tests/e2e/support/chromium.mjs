// Chromium as all tests want it: silent towards the internet, and able to run as root, as in a container.
import { chromium } from "playwright-core";

const FLAGS = [
  "--headless=new",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  // Every window would load two hidden pages for its address bar, which costs more than the tests do.
  "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup",
];

/** What its debugger can do to pages, and taking the network away. @type {readonly import("./browser.mjs").Power[]} */
export const POWERS = ["debugger", "offline"];
/** What its driver cannot see of a page. @type {readonly string[]} */
export const UNSEEN = [];

/** @param {string} executablePath @returns {Promise<import("playwright-core").Browser>} */
export function launch(executablePath) {
  // Playwright's own headless flag is of an older kind.
  return chromium.launch({ executablePath, headless: false, args: FLAGS });
}
