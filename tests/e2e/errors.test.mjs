// Everything that start(), attach() and send() can be refused with, by its code.
import assert from "node:assert/strict";
import { freePort } from "./support/process.mjs";
import { call, finish, object, say, unique } from "./support/steps.mjs";
import { start } from "./support/servers.mjs";
import { on } from "./support/suite.mjs";

const describe = (name, properties = {}) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: object(properties),
  handler: "echo",
});
const WRONG_KEY = "canary-wrong-key-91c2";
const UNKNOWN = "00000000-0000-4000-8000-000000000000";

/** @param {Promise<unknown>} promise @param {Record<string, unknown>} expected */
async function refusal(promise, expected) {
  /** @type {any} */
  let refused;
  await assert.rejects(promise, (error) => {
    refused = error;
    return true;
  });
  const { code, retryable = false, details } = expected;
  assert.equal(refused.code, code, refused.message);
  assert.equal(refused.pagehands, true, "a PagehandError");
  assert.equal(refused.isError, true, "a real Error");
  assert.equal(refused.retryable, retryable, "retryable");
  if (details !== undefined) assert.deepEqual(refused.details, details);
  return refused;
}

on(["mock", "legacy", "real", "real143"], (scenario) => {
  scenario("a wrong key is unauthorized, and the key is in no error", async ({ server, lab }) => {
    const error = await refusal(lab.start(server, { key: WRONG_KEY }), { code: "unauthorized" });
    assert.ok(!JSON.stringify(error).includes(WRONG_KEY) && !error.stack.includes(WRONG_KEY));
    assert.ok(!JSON.stringify([lab.urls, lab.console]).includes(WRONG_KEY));
    await refusal(lab.attach(server, UNKNOWN, { key: WRONG_KEY }), { code: "unauthorized" });
    const talk = await lab.start(server, { steps: [say("fine")] });
    assert.equal((await talk.turn()).status, "finished", "the page works on");
  });

  scenario("a conversation that does not exist is not_found", async ({ server, lab }) => {
    await refusal(lab.attach(server, UNKNOWN), { code: "not_found" });
    await refusal(lab.attach(server, "not a uuid"), { code: "invalid_argument" });
  });

  scenario("a tool name that the server knows with another schema is a tool_conflict", async ({ server, lab }) => {
    const open = unique("open");
    await lab.start(server, { tools: [describe(open, { a: { type: "string" } })] });
    const changed = lab.start(server, { tools: [describe(open, { b: { type: "string" } })] });
    const { suggestion, ...details } = (await refusal(changed, { code: "tool_conflict" })).details;
    assert.deepEqual(details, { tool: open, place: "server" });
    assert.match(suggestion, new RegExp(`^${open}_[0-9a-f]{6}$`), "a name that is free for it");
    const talk = await lab.start(server, { tools: [describe(open, { a: { type: "string" } })] });
    assert.deepEqual(talk.opened.tools.ready, [open], "the same schema is no conflict");
  });

  scenario("tools that no server would take are refused before anything is sent", async ({ server, lab }) => {
    const twice = describe(unique("twice"));
    const before = lab.urls.length;
    await refusal(lab.start(server, { tools: [twice, twice] }), { code: "duplicate_tool", details: { tool: twice.name } });
    await refusal(lab.start(server, { tools: [describe("terminal")] }), { code: "tool_collision" });
    await refusal(lab.start(server, { tools: [describe("finish")] }), { code: "invalid_tool" });
    await refusal(lab.start(server, { tools: [describe("has space")] }), { code: "invalid_tool" });
    await refusal(lab.start(server, { tools: [describe("reserved", { kind: {} })] }), { code: "invalid_tool" });
    await refusal(lab.start(server, { client_tools: [] }), { code: "invalid_argument" });
    const sent = lab.urls.slice(before).filter((url) => url.startsWith(server.url));
    assert.deepEqual(sent, []);
  });

  scenario("fields that the server finds invalid are listed", async ({ server, lab }) => {
    const options = { confirmation_policy: { kind: "NeverHeardOf" }, workspace: { working_dir: 7 } };
    const error = await refusal(lab.start(server, options), { code: "invalid_request" });
    assert.ok(error.details.issues.length >= 1);
    for (const { path, message } of error.details.issues) assert.ok(path && message, JSON.stringify(error.details));
    assert.ok(error.details.issues.some(({ path }) => path.includes("confirmation_policy")), JSON.stringify(error.details));
    await refusal(lab.start(server, { agent: undefined }), { code: "invalid_request" });
  });

  scenario("a server that is down is unreachable", async ({ server, lab }) => {
    const url = `http://127.0.0.1:${await freePort()}`;
    await refusal(lab.start(server, { url }), { code: "unreachable", retryable: true, details: null });
    await refusal(lab.attach(server, UNKNOWN, { url }), { code: "unreachable", retryable: true });
  });

  scenario("a conversation that is deleted meanwhile is not_found, and nothing hangs", async ({ server, lab }) => {
    const talk = await lab.start(server, { steps: [say("fine")] });
    await talk.turn();
    await server.rest("DELETE", `/api/conversations/${talk.id}`);
    await refusal(talk.send("more"), { code: "not_found" });
    await refusal(talk.history(), { code: "not_found" });
    await talk.idle();
    await talk.close();
    await refusal(lab.attach(server, talk.id), { code: "not_found" });
  });

  scenario("whoever gives up waiting gets the signal's reason, and the conversation stays usable", async ({ server, lab }) => {
    const [hold, open] = [unique("hold"), unique("open")];
    const talk = await lab.start(server, { tools: [describe(open)], steps: [call(open, {}, { hold }), finish("ok")] });
    await talk.send("go");
    const idle = talk.idle({ signal: hold });
    const rejected = assert.rejects(idle, { message: "the test gave up" });
    await lab.abort(hold);
    await rejected;
    await assert.rejects(talk.history({ signal: hold }), { message: "the test gave up" });
    await server.release(hold);
    assert.equal((await talk.idle()).status, "finished");
    await assert.rejects(lab.start(server, { signal: hold }), { message: "the test gave up" });
  });
});

on(["mock", "legacy"], (scenario) => {
  scenario("a failure that the browser hides is unreachable, whatever its status", async ({ server, lab }) => {
    await server.faults([{ fault: "http", method: "POST", path: "/api/conversations", status: 500 }]);
    await refusal(lab.start(server), { code: "unreachable", retryable: true });
    const talk = await lab.start(server, { steps: [say("fine")] });
    assert.equal((await talk.turn()).status, "finished");
  });

  scenario("a failure that the browser shows is a server_error", async ({ server, lab }) => {
    await server.faults([{ fault: "http", method: "POST", path: "/api/conversations", status: 503 }]);
    const { details } = await refusal(lab.start(server), { code: "server_error", retryable: true });
    assert.equal(details.status, 503);
  });

  scenario("a server at its limit is asked again to run, and the message is not sent again", async ({ server, lab }) => {
    const talk = await lab.start(server, { steps: [say("fine")] });
    const detail = "Conversation run limit reached. Retry the request later.";
    const full = { fault: "http", method: "POST", status: 429, body: { detail } };
    await server.faults([{ ...full, path: "/events", times: 0 }, { ...full, path: "/run" }]);
    await talk.send("go");
    assert.equal((await talk.idle()).status, "finished");
    assert.deepEqual((await server.fired()).map((fault) => fault.fired), [1, 1]);
  });

  scenario("a message whose answer gets lost is found in the log", async ({ server, lab }) => {
    const open = unique("open");
    const talk = await lab.start(server, { tools: [describe(open)], steps: [call(open), say("fine")] });
    // Every time: the browser itself tries once more on a connection that it has used before.
    await server.faults([{ fault: "hang_up", method: "POST", path: "/events", handled: true, times: 0 }]);
    await talk.send("go");
    await talk.until("message", { text: "fine" });
    await talk.idle();
    assert.equal((await talk.runs()).length, 1);
  });

  scenario("a message that never arrives leaves nothing to wait for", async ({ server, lab }) => {
    const talk = await lab.start(server, { steps: [say("fine")] });
    await server.faults([{ fault: "hang_up", method: "POST", path: "/events", times: 0 }]);
    await refusal(talk.send("go"), { code: "unreachable", retryable: true });
    assert.deepEqual(await talk.idle(), { status: "idle" });
    await server.faults([]);
    assert.equal((await talk.turn()).status, "finished");
  });

  scenario("a key that is withdrawn later ends the conversation", async ({ server, lab }) => {
    const talk = await lab.start(server, { steps: [say("fine")] });
    const idle = (await talk.turn()).status;
    assert.equal(idle, "finished");
    await server.faults([
      { fault: "reject_key", times: 0 },
      { fault: "drop_socket", after: {}, conversation: talk.id },
    ]);
    await server.emit(talk.id, { id: crypto.randomUUID(), kind: "PauseEvent", source: "user" });
    await talk.until("error", { code: "unauthorized" });
    await talk.until("connection", { state: "closed" });
    await refusal(talk.send("more"), { code: "closed" });
  });

  scenario("a start that is given up while it goes on leaves no socket behind", async ({ server, lab }) => {
    // The second start is answered after the first would have been.
    const late = { fault: "http_delay", method: "POST", path: "/api/conversations" };
    await server.faults([{ ...late, ms: 500 }, { ...late, ms: 800 }]);
    const signal = unique("signal");
    const starting = assert.rejects(lab.start(server, { signal }), { message: "the test gave up" });
    await lab.sent("/api/conversations");
    await lab.abort(signal);
    await starting;
    const talk = await lab.start(server, { steps: [say("fine")] });
    assert.equal((await talk.turn()).status, "finished");
    assert.equal(lab.sockets.length, 1);
    assert.deepEqual((await server.fired()).map(({ fired }) => fired), [1, 1]);
  });

  scenario("a server that is too old is unsupported", async ({ lab, onEnd }) => {
    for (const version of ["1.27.3", "0.9"]) {
      const old = await start({ kind: "mock", name: version, version });
      onEnd(() => old.stop());
      const { details } = await refusal(lab.start(old), { code: "unsupported_server" });
      assert.equal(details.version, version);
      assert.equal(details.minimum, "1.28.0");
      await refusal(lab.attach(old, UNKNOWN), { code: "unsupported_server" });
    }
  });
});
