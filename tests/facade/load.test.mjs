// Loading the wasm: from where, how often, and what is said when it fails.
import assert from "node:assert/strict";
import { test } from "node:test";
import { freshCopy, load, rejection, serve, wasm } from "./help.mjs";

const core = await wasm("openhands.wasm");

/** A package of its own for every test: what is loaded once stays loaded. */
const fresh = async (t, without) => load("index.js", await freshCopy(t, without));

function send(response, status, type, body) {
  response.writeHead(status, { "content-type": type });
  response.end(body);
}

/** Loads the core for OpenHands. */
const initFrom = (init, source) => init({ openhands: source });

test("in Node the files are read", async (t) => {
  const { init } = await fresh(t);
  await init({ openhands: true });
  await init({ openhands: true, uipath: true, schema: true });
});

test("every kind of source will do", async (t) => {
  const { url, asked } = await serve(t, (_, response) => send(response, 200, "application/wasm", core));
  const sources = {
    bytes: () => core,
    "an ArrayBuffer": () => new Uint8Array(core).buffer,
    "a module": () => new WebAssembly.Module(core),
    "a promise of a module": () => WebAssembly.compile(core),
    "a text": () => url,
    "a URL": () => new URL(url),
    "a Request": () => new Request(url),
    "a Response": () => new Response(core, { headers: { "content-type": "application/wasm" } }),
    "a promise of a Response": () => fetch(url),
  };
  for (const [kind, source] of Object.entries(sources)) {
    const { init } = await fresh(t, ["openhands.wasm"]);
    await assert.doesNotReject(initFrom(init, source()), kind);
  }
  assert.equal(asked.length, 4);
});

test("the schema engine is loaded when its source is given, and not before", async (t) => {
  const schema = await wasm("schema.wasm");
  const { url, asked } = await serve(t, (_, response) => send(response, 200, "application/wasm", schema));
  const { init } = await fresh(t, ["schema.wasm"]);
  await init({ openhands: true });
  assert.equal(asked.length, 0);
  await init({ schema: url });
  assert.equal(asked.length, 1);
});

test("each core is loaded for itself", async (t) => {
  const files = { openhands: core, uipath: await wasm("uipath.wasm") };
  for (const [mine, other] of [["openhands", "uipath"], ["uipath", "openhands"]]) {
    const folder = await freshCopy(t, ["openhands.wasm", "uipath.wasm"]);
    for (const entry of ["index.js", `${mine}.js`]) {
      const { init } = await load(entry, folder);
      await init({ [mine]: files[mine] });
    }
    const { init } = await load("index.js", folder);
    // It is loaded already, by another entry: there is one of everything.
    await init({ [mine]: true });
    const error = await rejection(init({ [other]: true }));
    assert.deepEqual(error.details, { file: `${other}.wasm`, reason: "location" });
    const { init: initOther } = await load(`${other}.js`, folder);
    assert.equal((await rejection(initOther({ [mine]: true }))).code, "invalid_argument");
  }
});

test("what is to be loaded must be said", async (t) => {
  const { init } = await fresh(t);
  for (const sources of [undefined, null, "/openhands.wasm", { core: true }]) {
    assert.equal((await rejection(init(sources))).code, "invalid_argument", String(sources));
  }
});

test("concurrent loads are one", async (t) => {
  const { url, asked } = await serve(t, (_, response) => send(response, 200, "application/wasm", core));
  const { init } = await fresh(t, ["openhands.wasm"]);
  await Promise.all([initFrom(init, url), initFrom(init, url), initFrom(init, true)]);
  assert.equal(asked.length, 1);
});

test("a wrong MIME type is no obstacle", async (t) => {
  const { url } = await serve(t, (_, response) => send(response, 200, "application/octet-stream", core));
  const { init } = await fresh(t, ["openhands.wasm"]);
  await initFrom(init, url);
});

for (const [what, status, type, body, reason, words] of [
  ["HTML", 200, "text/html", "<!doctype html>", "html", /optimizeDeps\.exclude/],
  ["a missing file", 404, "text/plain", "not found", "status", /404/],
  ["something else", 200, "text/plain", "something else", "invalid", /init\(\)/],
  ["damaged wasm", 200, "application/wasm", core.subarray(0, 1000), "invalid", /not the wasm file/],
]) {
  test(`${what} instead of wasm is told as such`, async (t) => {
    const { url } = await serve(t, (_, response) => send(response, status, type, body));
    const { init, PagehandError } = await fresh(t, ["openhands.wasm"]);
    const error = await rejection(initFrom(init, url));
    assert.ok(PagehandError.isInstance(error), String(error));
    assert.equal(error.code, "wasm_unavailable");
    assert.deepEqual(error.details, { file: "openhands.wasm", reason });
    assert.match(error.message, words);
  });
}

test("no server, no file, no promise", async (t) => {
  for (const [source, reason] of [
    [() => "http://127.0.0.1:1/openhands.wasm", "network"],
    [() => Promise.reject(new Error("mine")), "network"],
    [() => true, "location"],
  ]) {
    const { init } = await fresh(t, ["openhands.wasm"]);
    const error = await rejection(initFrom(init, source()));
    assert.equal(error.details?.reason, reason, String(error));
    assert.ok(error.cause instanceof Error);
  }
});

test("a Content-Security-Policy is named", async (t) => {
  const { init } = await fresh(t);
  const { instantiate } = WebAssembly;
  // As Chromium says it.
  WebAssembly.instantiate = async () => {
    throw new WebAssembly.CompileError(
      "WebAssembly.instantiate(): Compiling or instantiating WebAssembly module violates the following Content Security policy directive because neither 'wasm-unsafe-eval' nor 'unsafe-eval' is an allowed source of script in the following Content Security Policy directive: \"script-src 'self'\"",
    );
  };
  t.after(() => (WebAssembly.instantiate = instantiate));
  const error = await rejection(initFrom(init, true));
  assert.equal(error.details.reason, "csp");
  assert.match(error.message, /'wasm-unsafe-eval'/);
});

test("what is no source is refused", async (t) => {
  const { init } = await fresh(t);
  for (const source of [5, null, {}]) assert.equal((await rejection(initFrom(init, source))).code, "invalid_argument");
  await initFrom(init, true);
});

test("after a failure the next load tries again, from the same place", async (t) => {
  let status = 503;
  const { url, asked } = await serve(t, (_, response) => send(response, status, "application/wasm", core));
  const { init } = await fresh(t, ["openhands.wasm"]);
  const error = await rejection(initFrom(init, url));
  assert.equal(error.retryable, true);
  status = 200;
  await initFrom(init, true);
  assert.equal(asked.length, 2);
});

test("after a failure another source may be given", async (t) => {
  const { init } = await fresh(t, ["openhands.wasm"]);
  await rejection(initFrom(init, new Response("<html>", { headers: { "content-type": "text/html" } })));
  await initFrom(init, core);
});
