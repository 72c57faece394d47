// Browsers, each as a program that is given a page. Pages tell what they found by themselves, so that no driver is needed.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * @typedef {object} Browser
 * @property {string} name
 * @property {string} program
 * @property {(profile: string) => string[]} flags
 * @property {string} [settings] Of a new profile.
 */

/** @type {Browser[]} */
const KNOWN = [
  {
    name: "Chromium",
    program: process.env.PAGEHAND_CHROMIUM ?? "",
    flags: (profile) => [
      `--user-data-dir=${profile}`,
      "--headless=new",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--no-first-run",
    ],
  },
  {
    name: "Firefox",
    program: process.env.PAGEHAND_FIREFOX ?? "",
    flags: (profile) => ["--headless", "--no-remote", "--profile", profile],
    // Nothing but the page is to be loaded.
    settings: `
      user_pref("app.normandy.enabled", false);
      user_pref("app.update.auto", false);
      user_pref("browser.aboutwelcome.enabled", false);
      user_pref("browser.safebrowsing.malware.enabled", false);
      user_pref("browser.safebrowsing.phishing.enabled", false);
      user_pref("browser.shell.checkDefaultBrowser", false);
      user_pref("datareporting.policy.dataSubmissionEnabled", false);
      user_pref("dom.push.connection.enabled", false);
      user_pref("extensions.getAddons.cache.enabled", false);
      user_pref("extensions.update.enabled", false);
      user_pref("network.captive-portal-service.enabled", false);
      user_pref("network.connectivity-service.enabled", false);
      user_pref("services.settings.server", "data:,");
      user_pref("toolkit.telemetry.enabled", false);
    `,
  },
];

/** Those that are here. */
export const browsers = KNOWN.filter(({ program }) => program !== "");

/**
 * Shows a page in a fresh profile while something is done.
 * @template T
 * @param {Browser} browser
 * @param {string} url
 * @param {() => Promise<T>} work
 */
export async function whileShowing({ name, program, flags, settings }, url, work) {
  const profile = await mkdtemp(join(tmpdir(), "pagehand-suite-"));
  if (settings !== undefined) await writeFile(join(profile, "user.js"), settings);
  const child = spawn(program, [...flags(profile), url], { stdio: "ignore" });
  const ended = once(child, "exit");
  const ends = ended.then(([code, signal]) => {
    throw new Error(`${name} ended by itself (${code ?? signal})`);
  });
  try {
    return await Promise.race([work(), ends]);
  } finally {
    ends.catch(() => {});
    child.kill();
    await ended;
    await rm(profile, { recursive: true, force: true, maxRetries: 10 });
  }
}
