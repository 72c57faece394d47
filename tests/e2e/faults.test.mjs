// What no server should do and some do: frames twice, late, out of order, never, or in words nobody knows.
import assert from "node:assert/strict";
import { call, calls, finish, object, say, unique } from "./support/steps.mjs";
import { on } from "./support/suite.mjs";

const PATH = object({ path: { type: "string" } });
const describe = (name, more) => ({ name, description: `Does ${name}.`, inputSchema: PATH, handler: "echo", ...more });

/** A conversation whose agent calls one tool twice, and the faults of its turn. */
async function disturbed({ server, lab }, faults) {
  const open = unique("open");
  const talk = await lab.start(server, {
    tools: [describe(open)],
    steps: [call(open, { path: "1" }), call(open, { path: "2" }), say("done")],
  });
  await server.faults(faults(open).map((fault) => ({ ...fault, conversation: talk.id })));
  return { open, talk };
}

/** @param {import("./support/talk.mjs").Talk} talk */
async function allWentWell(talk) {
  assert.equal((await talk.turn()).status, "finished");
  assert.deepEqual((await talk.runs()).map(({ args }) => args.path).toSorted(), ["1", "2"]);
  const said = (await talk.heard("message")).filter(({ role }) => role !== "");
  assert.deepEqual(said.map(({ role }) => role), ["user", "assistant"]);
}

/** @param {import("./support/servers.mjs").AgentServer} server @param {number[]} counts */
async function fired(server, counts) {
  assert.deepEqual((await server.fired()).map((fault) => fault.fired), counts, "how often the faults fired");
}

on(["mock", "legacy"], (scenario) => {
  scenario("frames that come twice count once, and are told", async (scene) => {
    const { talk } = await disturbed(scene, () => [{ fault: "duplicate", times: 0 }]);
    await allWentWell(talk);
    const duplicates = (await talk.heard("notice")).filter(({ code }) => code === "duplicate_event");
    assert.ok(duplicates.length >= 4, "two calls with their acknowledgements");
    const ids = (await talk.heard("event")).filter(({ kind }) => kind !== "ConversationStateUpdateEvent").map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
  });

  scenario("an acknowledgement before its announcement is looked up, and runs once", async (scene) => {
    const { talk, open } = await disturbed(scene, (tool) => [
      { fault: "reorder", match: { kind: "ActionEvent", tool }, times: 2 },
    ]);
    await allWentWell(talk);
    await fired(scene.server, [2]);
    assert.deepEqual((await talk.outcomes(open)).map(({ kind, result }) => [kind, result.echo.path]).toSorted(), [
      ["ok", "1"],
      ["ok", "2"],
    ]);
  });

  scenario("an announcement that never comes is looked up, and runs once", async (scene) => {
    const { talk, open } = await disturbed(scene, (tool) => [
      { fault: "swallow", match: { kind: "ActionEvent", tool }, times: 2 },
    ]);
    await allWentWell(talk);
    await fired(scene.server, [2]);
    assert.deepEqual((await talk.outcomes(open)).map(({ kind }) => kind), ["ok", "ok"]);
    assert.ok((await talk.heard("call")).filter(({ state }) => state === "settled").every(({ arguments: args }) => args.path));
  });

  scenario("a call that is let through but cannot be looked up fails, and the next one works", async (scene) => {
    const { server } = scene;
    const { talk, open } = await disturbed(scene, (tool) => [
      { fault: "swallow", match: { kind: "ActionEvent", tool } },
      { fault: "http", method: "GET", path: "/events/", status: 404, times: 0 },
    ]);
    assert.equal((await talk.turn()).status, "finished");
    assert.ok((await server.fired()).every((fault) => fault.fired > 0));
    const settled = (await talk.heard("call")).filter(({ state }) => state === "settled");
    assert.deepEqual(settled.map(({ outcome }) => outcome.code ?? outcome.kind).toSorted(), ["call_unavailable", "ok"]);
    assert.equal((await talk.runs(open)).length, 1);
  });

  scenario("an acknowledgement that comes late is waited for", async (scene) => {
    const { talk, open } = await disturbed(scene, (tool) => [
      { fault: "delay", match: { kind: "ObservationEvent", tool }, ms: 600 },
    ]);
    await talk.send("go");
    await talk.until("call", { tool: open, state: "announced" });
    assert.deepEqual(await talk.runs(), []);
    await talk.idle();
    assert.equal((await talk.runs()).length, 2);
  });

  scenario("events of unknown kinds and with absent fields are passed on, and break nothing", async (scene) => {
    const { server } = scene;
    const { talk } = await disturbed(scene, () => []);
    const id = () => crypto.randomUUID();
    const odd = [
      { id: id(), kind: "SomethingNew", source: "moon", deep: { er: [1, null] } },
      { id: id(), kind: "ActionEvent", tool_name: null, tool_call_id: null, action: null, source: "agent" },
      { id: id(), kind: "ActionEvent" },
      { id: id(), kind: "ObservationEvent", observation: null, action_id: null },
      { id: id(), kind: "ObservationEvent", observation: { kind: "ClientToolObservation", is_error: true }, action_id: id() },
      { id: id(), kind: "MessageEvent", llm_message: null },
      { id: id(), kind: "MessageEvent", llm_message: { role: null, content: "words" } },
      { id: id(), kind: "ConversationStateUpdateEvent", key: "execution_status", value: null },
      { id: id(), kind: "ConversationStateUpdateEvent", key: "full_state", value: [] },
      { id: id(), kind: "UserRejectObservation", action_id: 7 },
      { id: id(), kind: "AgentErrorEvent", tool_call_id: {} },
      { id: id(), kind: null },
      { id: 7, kind: "NumberedEvent" },
      { kind: "NamelessEvent" },
      JSON.parse(`{ "id": "${id()}", "kind": "ProtoEvent", "__proto__": { "polluted": true } }`),
    ];
    for (const event of odd) await server.emit(talk.id, event, false);
    await talk.until("event", { kind: "ProtoEvent" });
    const passed = new Set((await talk.heard("event")).map(({ id }) => id));
    for (const event of odd) assert.ok(passed.has(event.id), JSON.stringify(event));
    assert.equal((await talk.heard("event")).find(({ kind }) => kind === "SomethingNew").deep.er[1], null);
    await allWentWell(talk);
  });

  scenario("a status that nobody knows is passed on in its own words", async (scene) => {
    const { server } = scene;
    const { talk } = await disturbed(scene, () => []);
    const id = crypto.randomUUID();
    await server.emit(talk.id, { id, kind: "ConversationStateUpdateEvent", key: "execution_status", value: "dreaming" });
    const { value } = await talk.until("status", { status: "unknown" });
    assert.equal(value.detail, "dreaming");
    await allWentWell(talk);
  });

  scenario("frames that are garbage are told, and break nothing", async (scene) => {
    const { server } = scene;
    const { talk } = await disturbed(scene, () => []);
    const deep = "[".repeat(20_000) + "]".repeat(20_000);
    const legacy = server.target.version === "1.44.0";
    const garbage = ["", "no json", "null", "7", "[]", '"text"', '{"type":', deep];
    // Without an envelope these are objects, and so events of an unknown kind.
    if (!legacy) garbage.push('{"type":"durable","seq":1e400}', '{"type":"durable"}', `{"type":"x","y":${deep}}`);
    for (const raw of garbage) await server.frame(talk.id, raw);
    await server.frame(talk.id, '{"type":"item_exploded","kind":"item_exploded","item_id":"x"}');
    if (legacy) await talk.until("event", { kind: "item_exploded" });
    else await talk.until("notice", { code: "unknown_frame", message: "item_exploded" });
    const told = (await talk.heard("notice")).filter(({ code }) => ["malformed_frame", "unknown_frame"].includes(code));
    assert.ok(told.length >= garbage.length, `${told.length} notices of ${garbage.length}`);
    await allWentWell(talk);
  });

  scenario("numbers beyond 2^53 and lone surrogates in events break nothing", async (scene) => {
    const { server } = scene;
    const { talk } = await disturbed(scene, () => []);
    const event = `{"id":"${crypto.randomUUID()}","kind":"OddEvent","n":123456789012345678901234567890,"s":"\\ud800"}`;
    await server.frame(talk.id, server.target.version === "1.44.0" ? event : `{"type":"transient","event":${event}}`);
    await talk.until("event", { kind: "OddEvent" });
    await allWentWell(talk);
  });

  scenario("the first frame may take its time", async ({ server, lab }) => {
    await server.faults([{ fault: "first_frame_delay", ms: 1500 }]);
    const talk = await lab.start(server, { steps: [say("fine")] });
    assert.equal((await talk.turn()).status, "finished");
    await fired(server, [1]);
  });

  scenario("a socket that is refused at first is asked for again", async ({ server, lab }) => {
    await server.faults([{ fault: "refuse_socket", times: 2 }]);
    const talk = await lab.start(server, { steps: [say("fine")] });
    await fired(server, [2]);
    assert.equal((await talk.turn()).status, "finished");
  });

  for (const code of [1012, 1013, 1011, undefined]) {
    scenario(`a socket that closes with ${code ?? "no code"} during a run is replaced`, async (scene) => {
      const { talk } = await disturbed(scene, (tool) => [
        { fault: "drop_socket", after: { kind: "ActionEvent", tool }, code },
        { fault: "drop_socket", after: { kind: "ObservationEvent", tool }, code },
      ]);
      await allWentWell(talk);
      const lost = (await talk.heard("connection")).filter(({ state }) => state === "lost");
      assert.deepEqual(lost.map(({ closeCode }) => closeCode), lost.map(() => code ?? 1006));
      assert.ok(lost.length >= 1);
    });
  }

  scenario("a call that comes with a used call id of the model is a call of its own", async ({ server, lab }) => {
    const open = unique("open");
    const again = (path) => ({ tool_calls: [{ id: "call_same", name: open, arguments: { path } }] });
    const talk = await lab.start(server, { tools: [describe(open)], steps: [again("1"), again("2"), finish("ok")] });
    await talk.turn();
    assert.deepEqual((await talk.runs()).map(({ args }) => args.path), ["1", "2"]);
  });
});

on(["legacy"], (scenario) => {
  scenario("live frames that come while the log is being read are put in their place", async (scene) => {
    const { server, lab } = scene;
    const [open, hold] = [unique("open"), unique("hold")];
    const talk = await lab.start(server, {
      tools: [describe(open)],
      steps: [call(open, { path: "1" }), call(open, { path: "2" }, { hold }), say("done")],
    });
    await server.faults([
      { fault: "drop_socket", after: { kind: "ObservationEvent", tool: open } },
      { fault: "http_delay", method: "GET", path: "/events/search", ms: 800 },
    ]);
    await talk.send("go");
    const lost = await talk.until("connection", { state: "lost" });
    await talk.until("connection", { state: "connected" }, { after: lost.n });
    await server.release(hold);
    assert.equal((await talk.idle()).status, "finished");
    await fired(server, [1, 1]);
    assert.deepEqual((await talk.runs()).map(({ args }) => args.path), ["1", "2"]);
    const ids = (await talk.heard("event")).filter(({ key }) => key !== "full_state").map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    const log = (await talk.history()).events.map(({ id }) => id);
    assert.deepEqual(ids, log, "in the order of the log, and whole");
  });

  scenario("an event that REST does not know yet is delivered once", async (scene) => {
    const { talk } = await disturbed(scene, (tool) => [
      { fault: "publish_before_persist", match: { kind: "ActionEvent", tool }, ms: 300 },
      { fault: "drop_socket", after: { kind: "ActionEvent", tool } },
    ]);
    await allWentWell(talk);
    await fired(scene.server, [1, 1]);
  });
});

on(["mock"], (scenario) => {
  scenario("text that is being written arrives in pieces, and then as a message", async ({ server, lab }) => {
    const script = unique("script");
    const words = "These words come one after the other, in pieces.";
    const talk = await lab.start(server, {
      script,
      agent: server.agent(script, { stream: true }),
      steps: [say(words, { chunk_chars: 8 })],
    });
    await talk.turn();
    const deltas = await talk.heard("delta");
    assert.equal(deltas.map(({ content }) => content).join(""), words);
    const [message] = (await talk.heard("message")).filter(({ role }) => role === "assistant");
    assert.ok(deltas.every(({ item, kind }) => item === message?.id && kind === "text"));
  });

  scenario("parallel calls survive frames that are lost, doubled and swapped at once", async ({ server, lab }) => {
    const open = unique("open");
    const paths = Array.from({ length: 12 }, (_, at) => String(at));
    const talk = await lab.start(server, {
      tools: [describe(open)],
      steps: [calls(...paths.map((path) => [open, { path }])), finish("ok")],
    });
    const action = { kind: "ActionEvent", tool: open };
    const observation = { kind: "ObservationEvent", tool: open };
    await server.faults([
      { fault: "swallow", match: action, times: 3 },
      { fault: "reorder", match: action, times: 2 },
      { fault: "duplicate", match: action, times: 0 },
      { fault: "duplicate", match: observation, times: 0 },
    ]);
    assert.equal((await talk.turn()).status, "finished");
    assert.deepEqual((await talk.runs()).map(({ args }) => args.path).toSorted(), paths.toSorted());
  });
});
