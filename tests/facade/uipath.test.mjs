// uipath(): what it refuses, and a conversation with the stand-in's agent.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load, mockServer, rejection, withSockets, withoutSockets } from "./help.mjs";

const { PagehandError, tool, uipath } = await load("index.js");
const CANARY = "canary-token-91cc";
const where = { organization: "org", tenant: "tenant", token: CANARY };
const nowhere = uipath({ ...where, url: "http://127.0.0.1:1" });
const agent = { agentReleaseId: 7, folderId: 11 };

async function code(promise) {
  const error = await rejection(promise);
  assert.ok(PagehandError.isInstance(error), String(error?.stack ?? error));
  return [error.code, error.details?.field];
}

test("options of a service", () => {
  const url = "http://127.0.0.1:1";
  for (const [options, field] of [
    [undefined, "options"],
    [{ url, organization: "org", tenant: "tenant" }, "token"],
    [{ ...where, url, token: "a b" }, "token"],
    [{ ...where, url, token: 5 }, "token"],
    [{ ...where }, "url"],
    [{ url, tenant: "tenant", token: CANARY }, "organization"],
    [{ url, organization: "org", token: CANARY }, "tenant"],
    [{ ...where, url, orgName: "org" }, "orgName"],
    [{ ...where, url, externalUser: 5 }, "externalUser"],
    [{ ...where, url, surface: "board" }, "surface"],
  ]) {
    assert.throws(
      () => uipath(options),
      (error) => error.code === "invalid_argument" && error.details.field === field && !error.message.includes(CANARY),
      field,
    );
  }
});

test("what start and attach refuse", async () => {
  withoutSockets();
  const create = tool({ name: "create task", description: "d" });
  for (const [attempt, expected] of [
    [() => nowhere.start({}), ["invalid_argument", "agentReleaseId"]],
    [() => nowhere.start({ ...agent, label: "x".repeat(101) }), ["invalid_argument", "label"]],
    [() => nowhere.start({ ...agent, guards: {} }), ["invalid_argument", "guards"]],
    [() => nowhere.start({ ...agent, guards: [{ before: true }] }), ["invalid_argument", "guards"]],
    [() => nowhere.attach("", {}), ["invalid_argument", "conversationId"]],
    [() => nowhere.attach("c", { results: "message" }), ["invalid_argument", "results"]],
    [() => nowhere.attach("c", { answerUnflagged: "yes" }), ["invalid_argument", "answerUnflagged"]],
    [() => nowhere.start({ ...agent, tools: [create, { name: "create_task", description: "d" }] }), ["invalid_tool", "name"]],
    [() => nowhere.start({ ...agent, tools: [{ name: "read-board", description: "d" }] }), ["invalid_tool", "name"]],
  ]) {
    assert.deepEqual(await code(attempt()), expected);
  }
});

await withSockets(import.meta.url, () => {
  test("a turn with guards, a question and an edit", async (t) => {
    const { url, ask } = await mockServer(t, {});
    const schema = { type: "object", properties: { title: { type: "string", minLength: 2 } }, required: ["title"] };
    await ask("PUT", "/mock/uipath/scripts/default", {
      steps: [
        { calls: [{ name: "create_task", input: { title: "Q3" }, confirm: true, inputSchema: schema }, { name: "wipe", input: {} }] },
        { text: ["The model reads: ", "{results}"] },
      ],
    });
    const seen = [];
    const conversation = await uipath({ ...where, url }).start({
      ...agent,
      guards: [
        {
          before: ({ tool }) => (tool === "wipe" ? { block: "nobody wipes this board" } : undefined),
          after: ({ arguments: { title }, result }) => ({ result: { ...result, title } }),
        },
      ],
      tools: [
        { name: "create task", description: "d", inputSchema: schema, execute: (args) => (seen.push(args), { id: "HB-1" }) },
        { name: "wipe", description: "d", execute: () => seen.push("wiped") },
      ],
    });
    const outcomes = [];
    const edits = [];
    conversation.on("call", (call) => {
      if (call.outcome !== undefined) outcomes.push([call.tool, call.outcome]);
      if (call.state === "authorised" && call.edits !== undefined) edits.push(...call.edits);
    });
    conversation.on("approval", async ({ approve }) => {
      assert.equal((await rejection(approve({ arguments: { title: "" } }))).code, "invalid_edit");
      await approve({ arguments: { title: "Review Q3" } });
    });
    await conversation.send("Plan the week.");
    assert.deepEqual(await conversation.idle(), { status: "finished" });
    assert.deepEqual(seen, [{ title: "Review Q3" }]);
    assert.deepEqual(edits, [{ path: "/title", from: "Q3", to: "Review Q3" }]);
    assert.deepEqual(new Map(outcomes), new Map([
      ["create task", { kind: "ok", result: { id: "HB-1", title: "Review Q3" } }],
      ["wipe", { kind: "rejected", message: "nobody wipes this board" }],
    ]));
    const { answers } = await ask("GET", `/mock/uipath/conversations/${conversation.id}`);
    const ends = JSON.stringify(answers);
    assert.equal(ends.match(/endToolCall/g).length, 2);
    assert.ok(ends.includes("nobody wipes this board"), ends);
    await conversation.close();
  });
});
