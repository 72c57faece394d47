// openhands(), start() and attach(): what they refuse, and how they fail.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load, rejection, serve, withoutSockets } from "./help.mjs";

const { dispatcher, openhands, PagehandError } = await load("index.js");
const CANARY = "canary-key-5f2a";
const nowhere = openhands({ url: "http://127.0.0.1:1", sessionKey: CANARY });
const start = { workspace: "/work", agent: {} };

async function code(promise) {
  const error = await rejection(promise);
  assert.ok(PagehandError.isInstance(error), String(error?.stack ?? error));
  return [error.code, error.details?.field];
}

test("without a WebSocket the environment is named, before anything is sent", async (t) => {
  const { WebSocket } = globalThis;
  globalThis.WebSocket = undefined;
  t.after(() => (globalThis.WebSocket = WebSocket));
  assert.equal((await rejection(nowhere.start(start))).code, "unsupported_environment");
});

test("options of a server", (t) => {
  for (const [options, field] of [
    [undefined, "options"],
    ["http://localhost", "options"],
    [{}, "url"],
    [{ url: new URL("http://localhost") }, "url"],
    [{ url: "http://localhost", key: "x" }, "key"],
    [{ url: "http://localhost", sessionKey: "" }, "sessionKey"],
    [{ url: "http://localhost", sessionKey: `${CANARY}\n` }, "sessionKey"],
    [{ url: "http://localhost", sessionKey: 5 }, "sessionKey"],
  ]) {
    assert.throws(
      () => openhands(options),
      (error) => error.code === "invalid_argument" && error.details.field === field && !error.message.includes(CANARY),
      field,
    );
  }
});

test("what start and attach refuse", async () => {
  withoutSockets();
  for (const [options, field] of [
    [undefined, "options"],
    [{ agent: {} }, "workspace"],
    [{ ...start, workspace: 5 }, "workspace"],
    [{ ...start, conversationId: "mine" }, "conversationId"],
    [{ ...start, client_tools: [] }, "client_tools"],
    [{ ...start, conversation_id: null }, "conversation_id"],
    [{ ...start, initial_message: { content: [] } }, "initial_message"],
    [{ ...start, tools: {} }, "tools"],
    [{ ...start, signal: {} }, "signal"],
    [{ ...start, resumeWithin: "5m" }, "resumeWithin"],
    [{ ...start, results: "channel" }, "results"],
    [{ ...start, secrets: 7n }, "options"],
  ]) {
    assert.deepEqual(await code(nowhere.start(options)), ["invalid_argument", field]);
  }
  for (const [id, options, field] of [
    [undefined, undefined, "conversationId"],
    ["../../etc", undefined, "conversationId"],
    ["6a520000-0000-4000-8000-000000000000", { workspace: "/" }, "workspace"],
    ["6a520000-0000-4000-8000-000000000000", null, "options"],
    ["6a520000-0000-4000-8000-000000000000", { resumeWithin: -1 }, "resumeWithin"],
    ["6a520000-0000-4000-8000-000000000000", { resumeWithin: Infinity }, "resumeWithin"],
    ["6a520000-0000-4000-8000-000000000000", { limits: 5 }, "limits"],
    ["6a520000-0000-4000-8000-000000000000", { limits: { bytes: 5 } }, "bytes"],
  ]) {
    assert.deepEqual(await code(nowhere.attach(id, options)), ["invalid_argument", field]);
  }
  for (const limit of [0, -1, 1.5, NaN, Infinity, "5", 5n, null, 2 ** 31]) {
    const refused = await code(nowhere.start({ ...start, limits: { resultBytes: limit } }));
    assert.deepEqual(refused, ["invalid_argument", "limits.resultBytes"]);
  }
  assert.deepEqual(await code(openhands({ url: "ftp://localhost" }).start(start)), ["invalid_argument", "url"]);
});

test("case_12_an_absence_that_is_no_time_is_refused_and_the_unit_is_named", async () => {
  for (const resumeWithin of [-1, NaN, Infinity, "5000", 5n, null, 7 * 24 * 3_600_000 + 1]) {
    const error = await rejection(openhands({ url: "http://localhost:1" }).start({ workspace: "/", agent: {}, resumeWithin }));
    assert.equal(error.code, "invalid_argument");
    assert.match(error.message, /must be a number of milliseconds, 0 to 604800000/);
  }
});

test("what a dispatcher refuses", async () => {
  const id = "6a520000-0000-4000-8000-000000000000";
  for (const [options, field] of [
    [undefined, "options"],
    [{ conversationId: id }, "url"],
    [{ url: "http://localhost" }, "conversationId"],
    [{ url: "http://localhost", conversationId: id, workspace: "/" }, "workspace"],
    [{ url: "http://localhost", conversationId: id, tools: {} }, "tools"],
  ]) {
    assert.deepEqual(await code(dispatcher(options)), ["invalid_argument", field]);
  }
});

test("a tool that breaks a rule is refused, with the field and the rule", async () => {
  withoutSockets();
  const definition = { name: "show", description: "Shows" };
  for (const [tool, field, rule] of [
    [{ ...definition, name: "1st" }, "name", "name_pattern"],
    [{ ...definition, description: " " }, "description", "description_required"],
    [{ ...definition, inputSchema: { type: "string" } }, "inputSchema.type", "type_object"],
    [{ ...definition, timeout: 0 }, "timeout", "timeout_milliseconds"],
  ]) {
    const error = await rejection(nowhere.start({ ...start, tools: [tool] }));
    assert.equal(error.code, "invalid_tool");
    assert.equal(error.details.field, field);
    assert.equal(error.details.rule, rule);
    assert.match(error.message, new RegExp(field.replaceAll(".", "\\.")));
  }
  const twice = await rejection(nowhere.start({ ...start, tools: [definition, definition] }));
  assert.deepEqual([twice.code, twice.details.tool], ["duplicate_tool", "show"]);
});

test("a server that is not there is unreachable", async () => {
  withoutSockets();
  const error = await rejection(nowhere.start(start));
  assert.equal(error.code, "unreachable");
  assert.equal(error.retryable, true);
});

test("a wrong key is told, and never repeated", async (t) => {
  withoutSockets();
  const { url, asked } = await serve(t, (request, response) => {
    response.writeHead(401, { "content-type": "application/json" });
    response.end(JSON.stringify({ detail: "Unauthorized", echo: request.headers["x-session-api-key"] }));
  });
  const error = await rejection(openhands({ url, sessionKey: CANARY }).start(start));
  assert.equal(error.code, "unauthorized");
  assert.ok(asked.some((request) => request.headers["x-session-api-key"] === CANARY));
  assert.ok(asked.every((request) => !request.url.includes(CANARY)));
  const shown = [error.message, error.stack, JSON.stringify(error.details), String(error.cause)].join();
  assert.ok(!shown.includes(CANARY), shown);
});

test("a key is asked for before the first request, and what is no key is not repeated", async (t) => {
  withoutSockets();
  const { url, asked } = await serve(t, (_, response) => response.writeHead(401).end("{}"));
  const refusal = async (sessionKey) => rejection(openhands({ url, sessionKey }).start(start));
  assert.equal((await refusal(async () => CANARY)).code, "unauthorized");
  assert.ok(asked.length > 0 && asked.every((request) => request.headers["x-session-api-key"] === CANARY));
  const before = asked.length;
  const odd = await refusal(() => `${CANARY}\n`);
  assert.equal(odd.code, "unauthorized");
  assert.ok(!JSON.stringify([odd.message, odd.details]).includes(CANARY));
  const signedOut = () => {
    throw new Error("signed out");
  };
  assert.equal((await refusal(signedOut)).code, "unauthorized");
  assert.equal(asked.length, before);
});

test("a redirect is not followed, so that the key stays where it belongs", async (t) => {
  withoutSockets();
  const other = await serve(t, (_, response) => response.end("{}"));
  const { url } = await serve(t, (_, response) => {
    response.writeHead(307, { location: other.url });
    response.end();
  });
  assert.equal((await rejection(openhands({ url, sessionKey: CANARY }).start(start))).code, "unreachable");
  assert.equal(other.asked.length, 0);
});

test("a signal ends the waiting with its own reason", async (t) => {
  withoutSockets();
  const controller = new AbortController();
  const reason = { mine: true };
  // The answer never comes.
  const { url, asked } = await serve(t, () => controller.abort(reason));
  const server = openhands({ url });

  assert.equal(await rejection(server.start({ ...start, signal: AbortSignal.abort(reason) })), reason);
  assert.equal(asked.length, 0);

  assert.equal(await rejection(server.start({ ...start, signal: controller.signal })), reason);
  assert.equal(asked.length, 1);

  const timedOut = await rejection(server.start({ ...start, signal: AbortSignal.timeout(20) }));
  assert.equal(timedOut.name, "TimeoutError");
});

test("a signal of another realm is a signal, and loses its listeners", async () => {
  withoutSockets();
  const listeners = new Set();
  const signal = {
    aborted: false,
    reason: undefined,
    throwIfAborted() {},
    addEventListener: (_, listener) => listeners.add(listener),
    removeEventListener: (_, listener) => listeners.delete(listener),
  };
  assert.equal((await rejection(nowhere.start({ ...start, signal }))).code, "unreachable");
  assert.equal(listeners.size, 0);
});
