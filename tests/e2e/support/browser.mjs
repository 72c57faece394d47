// The browser that the tests run in: each kind has a file that launches it.
//
// What it gives is what playwright gives, `newContext` for a fresh profile and `newPage` in it. Of other browsers that is only what
// the harness uses: see `Profile` and `Page`.
import { kind } from "./environment.mjs";

/**
 * What a scenario may need and not every browser has: `debugger` kills, freezes and measures pages and rules over their storage;
 * `offline` takes the network away.
 * @typedef {"debugger" | "offline"} Power
 */
/** @typedef {Pick<import("playwright-core").BrowserContext, "setOffline" | "close"> & { newPage: () => Promise<Page> }} Profile */
/** `evaluate` takes and gives what JSON can carry. @typedef {Pick<import("playwright-core").Page, "goto" | "reload" | "evaluate" | "context" | "url" | "on" | "close">} Page */

const { POWERS, UNSEEN, launch } = await import(`./${kind}.mjs`);

export { launch };

/** What a page has to write down itself, for its driver does not see it: `sockets`, `requests`, `console`. */
export const unseen = UNSEEN;

/** @param {Power} power */
export const can = (power) => POWERS.includes(power);
