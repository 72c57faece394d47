// A consumer of the package: a fresh folder with the packed package in it, an app, and a page that shows what came of it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { launch } from "../../e2e/support/chromium.mjs";
import { mockServer, packageFolder } from "../../facade/help.mjs";

/** What the app says when all is well: every server's agent called a tool wrongly, and then rightly. */
export const WELL = "pagehand: invalid_arguments hello Ada ok, invalid_arguments hello Ada ok";
/** How long a page may take to say something, on a machine that is busy with other things. */
const PATIENCE = 60_000;
const CONSUMERS = fileURLToPath(new URL("../consumers/", import.meta.url));
/** Beside the bundlers' node_modules, where Node and bundlers find them as in any project: some refuse links that lead far away. */
const FIELD = mkdtempSync(join(realpathSync(fileURLToPath(new URL("../node_modules", import.meta.url))), "../field-"));
const NPM = ["--offline", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--silent"];

/** The package, packed as it would be published. */
export const tarball = pack();
/** Its wasm files, by their content. */
const wasms = new Map(filesOf(packageFolder, isWasm).map((file) => [readFileSync(join(packageFolder, file), "latin1"), file]));
/** The names of its wasm files. */
export const wasmFiles = [...wasms.values()].sort();
/** Where the agent servers are. */
export let server = "";

let browser;
const endings = [];
const rows = [];

before(async () => {
  browser = await launch(process.env.PAGEHAND_CHROMIUM);
  const greet = (name) => ({ name: "greet", arguments: { name } });
  const steps = [{ asked: "Greet", tool_calls: [greet("ada")] }, { tool_calls: [greet("Ada")] }, { finish: "ok" }];
  const mock = await mockServer({ after: (end) => endings.push(end) }, { greet: steps });
  const calls = ["ada", "Ada"].map((name) => ({ name: "greet", input: { name } }));
  await mock.ask("PUT", "/mock/uipath/scripts/greet", { steps: [{ calls: [calls[0]] }, { calls: [calls[1]] }, { text: "ok" }] });
  server = mock.url;
});

after(async () => {
  await browser?.close();
  for (const end of endings) end();
  rmSync(FIELD, { recursive: true, force: true });
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column].length)));
  for (const row of rows) console.log(row.map((cell, column) => cell.padEnd(widths[column])).join("  ").trimEnd());
});

/**
 * A test of one consumer, with a row in the table at the end.
 * @param {string} name
 * @param {string} how `dev` or `build`, and what is special about it
 * @param {(t: import("node:test").TestContext, title: string) => Promise<string[] | void>} play a result other than `works`, and more
 */
export function trial(name, how, play) {
  test(`${name}, ${how}`, { timeout: 300_000 }, async (t) => {
    const row = [name, how, "failed", ""];
    rows.push(row);
    const [result = "works", more = ""] = (await play(t, `${name} ${how}`)) ?? [];
    row.splice(2, 2, result, more);
  });
}

/**
 * A consumer whose app is opened in the browser.
 * @param {string} name
 * @param {string} how
 * @param {object} consumer
 * @param {string[]} consumer.files folders of `consumers/` that its folder is made of
 * @param {string} [consumer.entry] of the package
 * @param {Record<string, string>} [consumer.write] further files
 * @param {(t: import("node:test").TestContext, folder: string) => Promise<{ url: string, output?: string }>} consumer.open
 *   builds and serves it: its page, and what a build wrote
 * @param {string} [consumer.says] what the app says
 * @param {string[]} [consumer.wasm] the files that it fetches
 * @param {string[]} [consumer.emitted] the files that a build writes, if not those
 * @param {RegExp} [consumer.fails] what the app says instead
 * @param {RegExp} [consumer.complaints] what the browser says then
 */
export function consumer(name, how, { open, says = WELL, wasm, emitted, fails, complaints, ...app }) {
  trial(name, how, async (t, title) => {
    const { url, output } = await open(t, makeFolder(title, app));
    const visit = await look(t, url);
    assert.match(visit.text, fails ?? new RegExp(`^${says}$`));
    const odd = visit.complaints.filter((line) => !complaints?.test(line));
    assert.deepEqual(odd, [], "what the browser complains about");
    visit.check();
    if (fails) return ["says what is wrong"];
    const expected = wasm ?? (app.entry?.includes("inline") ? [] : wasmFiles);
    assert.deepEqual(await visit.wasm(), expected, "the wasm files that were fetched");
    if (output === undefined) return;
    assert.deepEqual(wasmIn(output), emitted ?? expected, "the wasm files that were emitted");
    return ["works", `${(emitted ?? expected).length} wasm files emitted`];
  });
}

/**
 * A fresh folder with the package in it, and the app.
 * @param {string} name
 * @param {{ files?: string[], entry?: string, write?: Record<string, string> }} [app]
 */
export function makeFolder(name, { files = [], entry = "pagehand", write = {} } = {}) {
  const folder = join(FIELD, name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-"));
  for (const part of files) cpSync(join(CONSUMERS, part), folder, { recursive: true });
  cpSync(join(CONSUMERS, "app.js"), join(folder, "app.js"));
  const all = { "package.json": '{ "private": true, "type": "module" }\n', ...write };
  for (const [file, text] of Object.entries(all)) writeFileSync(join(folder, file), text);
  for (const file of readdirSync(folder).filter((file) => file.endsWith(".js"))) {
    const text = readFileSync(join(folder, file), "utf8");
    writeFileSync(join(folder, file), text.replace('from "pagehand"', `from "${entry}"`));
  }
  execFileSync("npm", ["install", ...NPM, tarball], { cwd: folder, stdio: ["ignore", "inherit", "inherit"] });
  return folder;
}

/** Opens a page, and waits for what the app in it says. @param {import("node:test").TestContext} t @param {string} url */
export async function look(t, url) {
  const context = await browser.newContext();
  t.after(() => context.close());
  const visit = new Visit(context, await context.newPage());
  await visit.open(url);
  return visit;
}

class Visit {
  /** What the browser says about the page. @type {string[]} */ complaints = [];
  /** Every address that was asked for. @type {string[]} */ requests = [];
  text = "";
  page;

  constructor(context, page) {
    this.page = page;
    context.on("request", (request) => request.method() === "GET" && this.requests.push(request.url()));
    page.on("console", (line) => ["error", "warning"].includes(line.type()) && this.complaints.push(line.text()));
    page.on("pageerror", (error) => this.complaints.push(String(error)));
  }

  async open(url) {
    await this.page.goto(`${url}?server=${encodeURIComponent(server)}`);
    const told = this.page.getByText("pagehand: ");
    await told.waitFor({ timeout: PATIENCE }).catch((error) => {
      throw new Error(`the page said nothing; the browser: ${this.complaints.join("\n")}`, { cause: error });
    });
    this.text = await told.innerText();
  }

  /** The wasm files of the package that were asked for, under whatever names. */
  async wasm() {
    const asked = this.requests.filter((url) => new URL(url).pathname.endsWith(".wasm"));
    const contents = asked.map(async (url) => Buffer.from(await (await fetch(url)).arrayBuffer()).toString("latin1"));
    return (await Promise.all(contents)).map((content) => wasms.get(content) ?? "unknown").sort();
  }

  /** Every file of the app is asked for once, and nothing leaves this machine. */
  check() {
    const origin = new URL(this.page.url()).origin;
    const own = this.requests.filter((url) => url.startsWith(origin));
    assert.deepEqual(own.filter((url, at) => own.indexOf(url) !== at), [], "what was asked for twice");
    const away = this.requests.filter((url) => !["127.0.0.1", ""].includes(new URL(url).hostname));
    assert.deepEqual(away, [], "requests that leave this machine");
  }
}

function pack() {
  const output = execFileSync("npm", ["pack", "--json", "--pack-destination", FIELD, packageFolder], { encoding: "utf8" });
  return join(FIELD, JSON.parse(output)[0].filename);
}

/** The wasm files of the package that are in a folder, under whatever names, as often as they are there. @param {string} folder */
function wasmIn(folder) {
  return filesOf(folder, (file) => isWasm(file) || wasms.has(readFileSync(join(folder, file), "latin1")))
    .map((file) => wasms.get(readFileSync(join(folder, file), "latin1")) ?? `unknown: ${file}`)
    .sort();
}

function isWasm(file) {
  return file.endsWith(".wasm");
}

/** @param {string} folder @param {(file: string) => boolean} fits */
function filesOf(folder, fits) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter(fits);
}
