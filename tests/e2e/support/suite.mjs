// Scenarios: tests that run against one server or several.
import { after, before, describe, test } from "node:test";
import { can } from "./browser.mjs";
import { kind } from "./environment.mjs";
import { Lab } from "./page.mjs";
import { START } from "./process.mjs";
import { Browser } from "./site.mjs";
import { BROKEN_STORAGE } from "./storage.mjs";
import { TARGETS, start } from "./servers.mjs";

/** The machine may be slow; nothing here waits longer than a condition needs. */
const TIMEOUT = 600_000;

/** @typedef {import("./servers.mjs").AgentServer} AgentServer */
/** @typedef {AgentServer | import("./uipath.mjs").UiPathService | import("./library.mjs").LibraryService} AnyServer */
/**
 * What a scenario works with: a server, a page with a fresh profile, and a way to open more pages of that profile.
 * @typedef {object} Scene
 * @property {AgentServer} server
 * @property {Lab} lab
 * @property {import("./runs.mjs").Runs} runs of handlers, in all pages
 * @property {(options?: { path?: string, storage?: keyof typeof BROKEN_STORAGE, before?: () => void }) => Promise<Lab>} openPage
 *   `before` is done to the page before any code of its own runs
 * @property {(cleanup: () => unknown) => void} onEnd
 */

/** @type {Promise<Browser> | undefined} */
let browser;

/** Scenarios that this browser cannot play. @type {Set<string>} */
const left = new Set();

/**
 * Defines a scenario: its title, what it needs of a browser that not every browser has, and what happens.
 * @typedef {(title: string, play: (scene: Scene) => Promise<void>, more?: { needs?: import("./browser.mjs").Power }) => void} Define
 */

/**
 * Runs the same scenarios against each of these servers. Each is started once. In other browsers than Chromium real servers are left
 * out: they do not know the browsers apart.
 * @param {(keyof typeof TARGETS)[]} all
 * @param {(scenario: Define) => void} define
 * @param {{ options?: string[], key?: string, path?: string }} [more] `path` is of the page
 */
export function on(all, define, more) {
  const names = kind === "chromium" ? all : all.filter((name) => TARGETS[name].standIn);
  if (names.length === 0) return define((title) => void left.add(title));
  browser ??= Browser.launch();
  browser.catch(() => {});
  for (const name of names) {
    const target = TARGETS[name];
    // At once, so that a slow server comes up while others are being tested.
    const starting = start(target, more);
    starting.catch(() => {});
    describe(target.name, () => {
      /** @type {AgentServer} */
      let server;
      before(async () => void (server = await starting), { timeout: START + TIMEOUT });
      after(() => server?.stop());
      define((title, play, { needs } = {}) => {
        if (needs && !can(needs)) left.add(title);
        else test(title, { timeout: TIMEOUT }, () => playScene(server, play, more?.path));
      });
    });
  }
}

after(async () => {
  if (left.size > 0) console.log(`Not in ${kind}: ${left.size} scenarios (${[...left].join("; ")})`);
  await (await browser)?.close();
});

/** @param {AgentServer} server @param {(scene: Scene) => Promise<void>} play */
async function playScene(server, play, path = "/") {
  const site = await /** @type {Promise<Browser>} */ (browser);
  const profile = await site.profile();
  /** @type {Lab[]} */
  const labs = [];
  /** @type {(() => unknown)[]} */
  const cleanups = [];
  site.begin();
  const { runs } = site;
  let pages = 0;
  /** @type {Scene["openPage"]} */
  const openPage = async ({ path: at = path, storage, before = storage && BROKEN_STORAGE[storage] } = {}) => {
    const name = `page-${(pages += 1)}`;
    const lab = await Lab.open(site, profile, at, { name, before });
    labs.push(lab);
    return lab;
  };
  try {
    if (server.isMock) await server.faults([]);
    const lab = await openPage();
    await play({ server, lab, runs, openPage, onEnd: (cleanup) => void cleanups.push(cleanup) });
    for (const lab of labs) await lab.check();
    runs.check();
  } finally {
    for (const cleanup of cleanups.reverse()) await cleanup();
    await profile.close();
  }
}
