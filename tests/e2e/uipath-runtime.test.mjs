// Calls of UiPath's agents. What the agent's side was handed is asserted, not only what left the page.
import assert from "node:assert/strict";
import { object, unique } from "./support/steps.mjs";
import { on } from "./support/suite.mjs";
import { wanted as call } from "./support/uipath.mjs";

on(["service", "runtime"], (scenario) => {
  scenario("a result reaches the agent, which goes on with it", async ({ server, lab }) => {
    const read = unique("read_board");
    const talk = await lab.start(server, {
      tools: [{ name: read, description: "Reads.", inputSchema: object({ board: { type: "string" } }), handler: "echo" }],
      steps: [{ text: "Let me look.", calls: [call(read, { board: "b1" })] }, { text: `Read {output:call-${read}}` }],
    });
    assert.equal((await talk.turn("what is there?")).status, "finished");

    const [{ calls }] = await server.reports(talk.id, "waiting");
    assert.deepEqual(calls, { [`call-${read}`]: "end" });
    const [value, ...more] = await server.resumed(talk.id);
    assert.deepEqual(more, []);
    assert.deepEqual(value.output, { echo: { board: "b1" } });
    assert.ok(!value.is_error);
    assert.deepEqual(await talk.outcome(read), { kind: "ok", result: { echo: { board: "b1" } } });
    assert.deepEqual(await talk.states(read), ["announced", "authorised", "validating", "claiming", "running", "settled"]);
    const said = (await talk.heard("message")).map(({ role, text }) => `${role}: ${text}`);
    assert.deepEqual(said, ["user: what is there?", "assistant: Let me look.", 'assistant: Read {"echo": {"board": "b1"}}']);
    const [exchange] = (await server.known(talk.id)).exchanges;
    assert.deepEqual(exchange.clientSideTools.map(({ name }) => name), [read]);
  });

  scenario("what a person approves runs, as it was or as it was edited", async ({ server, lab, runs }) => {
    const [plain, edited] = [unique("create_plain"), unique("create_edited")];
    const inputSchema = object({ title: { type: "string" } }, { required: ["title"] });
    const tools = [plain, edited].map((name) => ({ name, description: "Creates.", inputSchema, handler: "echo" }));
    const asks = { confirm: true, inputSchema, requiredInput: ["title"] };
    const talk = await lab.start(server, {
      tools,
      steps: [{ calls: [call(plain, { title: "A" }, asks), call(edited, { title: "B" }, asks)] }, { text: "done" }],
    });
    await talk.send("create");
    const { value } = await talk.until("approval", { calls: { 0: { tool: edited } } });
    assert.deepEqual(
      value.calls.map(({ tool, arguments: args, client, editable, schema }) => ({ tool, args, client, editable, schema })),
      [{ tool: edited, args: { title: "B" }, client: true, editable: true, schema: inputSchema }],
    );
    assert.equal((await talk.state()).status, "waiting_for_confirmation");
    assert.deepEqual(runs.all, []);
    // The agent's side takes up the later answer after the earlier call.
    const answered = talk.decide(edited, true, { arguments: { title: "C" } });
    await server.until(talk.id, ({ answers }) => answers.length === 1);
    await talk.decide(plain, true);
    await answered;
    assert.equal((await talk.idle()).status, "finished");

    const resumed = await server.resumed(talk.id);
    const of = (/** @type {string} */ tool) => resumed.filter((value) => value.call === `call-${tool}`);
    const [yes, result] = of(plain);
    assert.deepEqual([yes.approved, yes.input, result.output], [true, { title: "A" }, { echo: { title: "A" } }]);
    const [changed, changedResult] = of(edited);
    assert.deepEqual([changed.approved, changed.input, changedResult.output], [true, { title: "C" }, { echo: { title: "C" } }]);
    assert.equal(resumed.length, 4);
    const steps = (await talk.heard("call")).filter((step) => step.tool === edited);
    assert.deepEqual(steps.flatMap(({ edits = [] }) => edits), [{ path: "/title", from: "B", to: "C" }]);
  });

  scenario("what a person rejects never runs, and the agent is told once", async ({ server, lab, runs }) => {
    const create = unique("create");
    const talk = await lab.start(server, {
      tools: [{ name: create, description: "Creates.", handler: "echo" }],
      steps: [{ calls: [call(create, {}, { confirm: true })] }, { text: "Never mind." }],
    });
    await talk.send("create");
    await talk.until("approval");
    await talk.reject("not today");
    assert.equal((await talk.idle()).status, "finished");

    const [value, ...more] = await server.resumed(talk.id);
    assert.equal(value.approved, false);
    assert.deepEqual(more, []);
    const answers = await server.answers(talk.id, `call-${create}`);
    assert.deepEqual(answers.map(({ kind, body }) => [kind, body]), [["confirmToolCall", { approved: false }]]);
    assert.equal((await talk.outcome(create)).kind, "rejected");
    assert.deepEqual(runs.all, []);
  });

  scenario("calls beside each other may be answered in any order", async ({ server, lab }) => {
    const [first, second] = [unique("first"), unique("second")];
    const slow = (/** @type {string} */ name) => ({ name, description: "Waits.", handler: { kind: "slow_echo", gate: name } });
    const talk = await lab.start(server, {
      tools: [slow(first), slow(second)],
      steps: [{ calls: [call(first, { n: 1 }), call(second, { n: 2 })] }, { text: "both" }],
    });
    await talk.send("go");
    await talk.until("run", { tool: first });
    await talk.until("run", { tool: second });
    await lab.openGate(second);
    await server.until(talk.id, ({ answers }) => answers.length === 1);
    await lab.openGate(first);
    assert.equal((await talk.idle()).status, "finished");

    const { answers } = await server.known(talk.id);
    assert.deepEqual(answers.map(({ toolCallId }) => toolCallId), [`call-${second}`, `call-${first}`]);
    const outputs = (await server.resumed(talk.id)).map(({ call: id, output }) => [id, output]);
    assert.deepEqual(outputs, [[`call-${first}`, { echo: { n: 1 } }], [`call-${second}`, { echo: { n: 2 } }]]);
  });

  scenario("what goes wrong reaches the agent as an error in words", async ({ server, lab, runs }) => {
    const [throws, slow, lacking, misfit, unfit] = ["throws", "slow", "lacking", "misfit", "unfit"].map(unique);
    const inputSchema = object({ n: { type: "integer" } });
    const talk = await lab.start(server, {
      tools: [
        { name: throws, description: "Throws.", handler: "throws" },
        { name: slow, description: "Never ends.", handler: "never", timeout: 50 },
        { name: misfit, description: "Wants a number.", inputSchema, handler: "echo" },
        { name: unfit, description: "Gives what it must not.", outputSchema: object({ count: { type: "integer" } }), handler: "wrong_result" },
      ],
      steps: [{ calls: [call(throws), call(slow), call(lacking), call(misfit, { n: "many" }), call(unfit)] }, { text: "oh" }],
    });
    assert.equal((await talk.turn()).status, "finished");

    const resumed = await server.resumed(talk.id);
    assert.deepEqual(resumed.map(({ call: id, is_error }) => [id, is_error]), [throws, slow, lacking, misfit, unfit].map((name) => [`call-${name}`, true]));
    const words = resumed.map(({ output }) => output.error);
    assert.match(words[0], /failed: TypeError: no luck$/);
    assert.match(words[1], /did not finish within 50 ms/);
    assert.ok(words[2].startsWith(`No handler is registered for client-side tool '${lacking}'.`) && words[2].includes(throws), words[2]);
    assert.match(words[3], /^The arguments do not fit .*: \/n: /);
    assert.match(words[4], /^The tool ran, but its result does not fit .*: \/count: /);
    assert.deepEqual(runs.all.map(({ tool }) => tool), [throws, slow, unfit]);
    const kinds = [throws, slow, lacking, misfit, unfit].map(async (name) => (await talk.outcome(name)).kind);
    assert.deepEqual(await Promise.all(kinds), ["failed", "timed_out", "missing_handler", "invalid_arguments", "invalid_output"]);
  });

  scenario("a page that is reloaded in the midst of a call says that nobody knows how far it came", async ({ server, lab }) => {
    const work = unique("work");
    const tools = [{ name: work, description: "Works.", handler: "never" }];
    const talk = await lab.start(server, { tools, steps: [{ calls: [call(work)] }, { text: "so be it" }] });
    await talk.send("go");
    await talk.until("run");
    await lab.reload();
    const back = await lab.attach(server, talk.id, { tools });
    assert.equal((await back.idle()).status, "finished");

    const [value, ...more] = await server.resumed(talk.id);
    assert.deepEqual(more, []);
    assert.equal(value.is_error, true);
    assert.match(value.output.error, /may or may not have completed/);
    assert.equal((await server.answers(talk.id, `call-${work}`)).length, 1);
    assert.equal((await back.outcome(work)).kind, "interrupted");
  });

  scenario("a result that is lost with its socket is sent again, and one that arrived is not", async ({ server, lab }) => {
    for (const lost of [true, false]) {
      const work = unique("work");
      const match = { kind: "endToolCall", call: `call-${work}`, from: "peer" };
      await server.faults(lost ? [{ fault: "swallow", match }] : []);
      const talk = await lab.start(server, {
        tools: [{ name: work, description: "Works.", handler: "echo" }],
        steps: [{ calls: [call(work, { n: 1 })] }, { waitMs: 2_500, text: "thanks" }],
      });
      await talk.send("go");
      await talk.until("call", { tool: work, state: "settled" });
      if (lost) await server.hit("swallow");
      else await server.reports(talk.id, "resumed", 1);
      await server.disturb(talk.id, "cut");
      assert.equal((await talk.idle()).status, "finished");

      const [value, ...more] = await server.resumed(talk.id);
      assert.deepEqual(more, []);
      assert.deepEqual(value.output, { echo: { n: 1 } });
      assert.equal((await server.answers(talk.id, `call-${work}`)).length, 1);
      assert.equal((await talk.runs(work)).length, 1);
    }
  });
});
