// Servers of what a bundler wrote, and programs that build or serve.
import { execFile, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";
import { json } from "node:stream/consumers";
import { promisify } from "node:util";
import { serve } from "../../facade/help.mjs";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".json": "application/json", ".wasm": "application/wasm" };
/** They say nothing to anybody. The mode is not that of whoever starts them, since Vite sets it for the process that it is in. */
const ENVIRONMENT = { NODE_ENV: "production", CI: "1", NO_COLOR: "1", NEXT_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1" };

/**
 * Serves a folder; its address.
 * @param {import("node:test").TestContext} t
 * @param {string} folder
 * @param {object} [options]
 * @param {Record<string, string>} [options.headers] of every answer
 * @param {Record<string, string>} [options.types] of files, by their extension
 * @param {object[]} [options.reports] receives what is sent to `/reports`
 * @param {string} [options.fallback] what is given for files that do not exist, as servers of single-page apps do
 */
export async function serveFolder(t, folder, { headers = {}, types = {}, reports, fallback } = {}) {
  const { url } = await serve(t, async (request, response) => {
    const { pathname } = new URL(request.url, "http://site");
    if (pathname === "/reports") {
      reports.push(await json(request));
      response.writeHead(204).end();
      return;
    }
    const wanted = pathname === "/" ? "/index.html" : normalize(pathname);
    for (const file of [wanted, fallback].filter(Boolean)) {
      const bytes = await readFile(join(folder, file)).catch(() => undefined);
      if (bytes === undefined) continue;
      const type = { ...TYPES, ...types }[extname(file)] ?? "text/plain";
      response.writeHead(200, { "Content-Type": type, ...headers }).end(bytes);
      return;
    }
    response.writeHead(404, headers).end();
  });
  return `${url}/`;
}

/** Runs a program of Node in a folder, to its end. @param {string} folder @param {string} script @param {string[]} args */
export async function run(folder, script, args = []) {
  const options = { cwd: folder, env: { ...process.env, ...ENVIRONMENT }, maxBuffer: 1e8 };
  const running = promisify(execFile)(process.execPath, [script, ...args], options);
  const { stdout } = await running.catch((error) => {
    throw new Error(`${script} ${args.join(" ")} failed:\n${error.stdout}\n${error.stderr}`);
  });
  return stdout.trim();
}

/**
 * Starts a server that is a program of Node; the address that it says.
 * @param {import("node:test").TestContext} t
 * @param {string} folder
 * @param {string} script
 * @param {string[]} args
 */
export function start(t, folder, script, args) {
  const child = spawn(process.execPath, [script, ...args], { cwd: folder, env: { ...process.env, ...ENVIRONMENT } });
  t.after(() => child.kill());
  return new Promise((done, fail) => {
    let said = "";
    const hear = (data) => {
      said += data;
      const address = /http:\/\/(127\.0\.0\.1|localhost):(\d+)/.exec(said);
      if (address !== null) done(`http://127.0.0.1:${address[2]}/`);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("error", fail);
    child.on("exit", () => fail(new Error(`${script} ${args.join(" ")} ended:\n${said}`)));
  });
}
