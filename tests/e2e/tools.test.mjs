// Tools that come, change and go, names with a version, and what is too much.
import assert from "node:assert/strict";
import { call, finish, object, say, unique } from "./support/steps.mjs";
import { on } from "./support/suite.mjs";
import { wanted } from "./support/uipath.mjs";

/** A server forbids arguments that are not declared. */
const ANYTHING = object({ n: { type: "integer" }, size: { type: "integer" }, text: { type: "string" }, deep: { type: "array" } });

const describe = (/** @type {string} */ name, /** @type {unknown} */ handler = "echo", more = {}) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: ANYTHING,
  handler,
  ...more,
});
const slow = (/** @type {string} */ name) => ({ kind: "slow_echo", gate: name });
const TEXT = { inputSchema: object({ title: { type: "string" } }) };
const NUMBER = { inputSchema: object({ title: { type: "number" } }) };

on(["mock", "legacy", "real", "real143"], (scenario) => {
  scenario("case_35_the_next_call_gets_the_new_handler_and_the_running_one_keeps_its_own", async ({ server, lab }) => {
    const [swap, hold] = [unique("swap"), unique("hold")];
    const talk = await lab.start(server, {
      tools: [describe(swap, slow(swap))],
      steps: [call(swap, { n: 1 }), call(swap, { n: 2 }, { hold }), finish("ok")],
    });
    await talk.send("go");
    await talk.until("run", { tool: swap, args: { n: 1 } });
    await talk.declare(describe(swap, "text"));
    await server.release(hold);
    await talk.until("call", { tool: swap, outcome: { kind: "ok", result: "abc" } });
    await lab.openGate(swap);
    assert.equal((await talk.idle()).status, "finished");
    assert.deepEqual(await talk.outcomes(swap), [{ kind: "ok", result: { echo: { n: 1 } } }, { kind: "ok", result: "abc" }]);
  });

  scenario("a tool that is taken back has no handler for later calls, and the running one goes on", async ({ server, lab }) => {
    const [gone, kept, hold] = [unique("gone"), unique("kept"), unique("hold")];
    const talk = await lab.start(server, {
      tools: [describe(gone, slow(gone)), describe(kept)],
      steps: [call(gone, { n: 1 }), call(gone, { n: 2 }, { hold }), call(kept), finish("ok")],
    });
    await talk.send("go");
    await talk.until("run", { tool: gone });
    await talk.ask("undeclare", gone);
    await server.release(hold);
    await talk.until("call", { tool: kept, state: "settled" });
    await lab.openGate(gone);
    assert.equal((await talk.idle()).status, "finished");
    const [before, after] = await talk.outcomes(gone);
    assert.deepEqual(before, { kind: "ok", result: { echo: { n: 1 } } });
    assert.deepEqual(after, { kind: "missing_handler", tool: gone, registered: [kept] });
    const { tools } = await talk.state();
    assert.deepEqual([tools.ready, tools.missingHandlers], [[kept], [gone]]);
    await assert.rejects(talk.ask("undeclare", gone), { code: "unknown_tool", details: { tool: gone }, pagehands: true });
  });

  scenario("a changed schema is refused with a name that the server takes, and with a version it needs no new one", async (scene) => {
    const { server, lab } = scene;
    const name = unique("read_board");
    await (await lab.start(server, { tools: [describe(name, "echo", TEXT)] })).close();
    let offered = "";
    await assert.rejects(lab.start(server, { tools: [describe(name, "echo", NUMBER)] }), (/** @type {any} */ error) => {
      assert.equal(error.code, "tool_conflict");
      assert.equal(error.details.place, "server");
      offered = error.details.suggestion;
      assert.match(offered, new RegExp(`^${name}_[0-9a-f]{6}$`));
      assert.ok(error.message.includes(offered), error.message);
      return true;
    });

    const tools = [describe(name, "echo", { ...NUMBER, versioned: true })];
    const steps = [call(offered, { title: 7 }), finish("ok"), call(offered, { title: 8 }), finish("ok")];
    const talk = await lab.start(server, { tools, steps });
    assert.deepEqual(talk.opened.tools, { ready: [name], missingHandlers: [], unknownToServer: [], differentSchema: [] });
    assert.equal((await talk.turn()).status, "finished");
    assert.deepEqual(await talk.outcome(name), { kind: "ok", result: { echo: { title: 7 } } });
    assert.deepEqual((await talk.runs()).map(({ tool }) => tool), [name]);
    const seen = (await talk.heard("event")).filter(({ kind }) => kind === "ActionEvent").map(({ tool_name }) => tool_name);
    assert.ok(seen.includes(offered) && !seen.includes(name), String(seen));
    await talk.close();

    // An app with a later version joins what was made with this one.
    const later = await lab.attach(server, talk.id, { tools: [describe(name, "echo", { ...TEXT, versioned: true })] });
    const drift = { ready: [], missingHandlers: [offered], unknownToServer: [name], differentSchema: [] };
    assert.deepEqual(later.opened.tools, drift);
    assert.equal((await later.turn()).status, "finished");
    const ended = (await later.heard("call")).at(-1);
    assert.deepEqual([ended.tool, ended.outcome.kind], [offered, "missing_handler"]);
    assert.match(ended.reason, /another version/);
    assert.deepEqual(await later.runs(), []);
  });

  scenario("case_30_a_fork_has_the_tools_that_are_declared_by_then", async ({ server, lab }) => {
    const [one, two, three] = [unique("one"), unique("two"), unique("three")];
    const talk = await lab.start(server, {
      tools: [describe(one), describe(two), { ...describe(three), handler: undefined }],
      steps: [say("hello")],
    });
    await talk.turn();
    await talk.ask("undeclare", two);
    await talk.declare(describe(three));
    const { tools } = await talk.state();
    assert.deepEqual(tools.ready.toSorted(), [one, three].toSorted());
    const fork = await talk.fork();
    const again = await lab.attach(server, talk.id, { tools: [describe(one), describe(three)] });
    for (const other of [fork, again]) {
      assert.deepEqual(other.opened.tools.ready.toSorted(), tools.ready.toSorted());
      assert.deepEqual(other.opened.tools.missingHandlers, [two]);
    }
  });

  scenario("case_34_results_and_arguments_have_an_outcome_whatever_their_size", async ({ server, lab }) => {
    const [huge, wide] = [unique("huge"), unique("wide")];
    const sizes = [15_000, 1_000_000, 1_100_000];
    const talk = await lab.start(server, {
      tools: [describe(huge, "huge"), describe(wide)],
      limits: { resultBytes: 1_048_576, argumentBytes: 2_000, argumentDepth: 4 },
      steps: [
        ...sizes.map((size) => call(huge, { size })),
        call(wide, { text: "x".repeat(2_000) }),
        call(wide, { deep: [[[[1]]]] }),
        call(wide, { deep: [[[1]]] }),
        finish("ok"),
      ],
    });
    assert.equal((await talk.turn()).status, "finished");
    const [small, large, over] = await talk.outcomes(huge);
    assert.deepEqual([small, large].map(({ result }) => result.text.length), sizes.slice(0, 2));
    assert.deepEqual([over.kind, over.code], ["failed", "result_too_large"]);
    assert.match(over.message, /^the result has 11000\d\d bytes, and the limit is 1048576$/);
    const codes = (await talk.outcomes(wide)).map(({ kind, code }) => code ?? kind);
    assert.deepEqual(codes, ["arguments_too_large", "arguments_too_large", "ok"]);
    assert.equal((await talk.runs(wide)).length, 1);
  });
});

on(["real", "real143"], (scenario) => {
  scenario("case_29_after_a_restart_the_declared_set_is_the_same_with_one_tool_added_removed_and_changed", async ({ server, lab }) => {
    const [same, removed, added] = [unique("same"), unique("removed"), unique("added")];
    const tools = [describe(same), describe(removed, "echo", TEXT)];
    const steps = [say("hello"), call(same, { n: 1 }), call(removed, {}), finish("ok")];
    const talk = await lab.start(server, { tools, steps });
    await talk.turn();
    await server.restart();
    const lost = await talk.until("connection", { state: "lost" });
    await talk.until("connection", { state: "ready" }, { after: lost.n, deadline: 60_000 });
    const kept = await lab.attach(server, talk.id, { tools });
    assert.deepEqual(kept.opened.tools, talk.opened.tools);
    await kept.close();
    await talk.close();
    const now = [describe(same), describe(added), describe(removed, undefined, NUMBER)].map(({ handler, ...tool }) =>
      tool.name === removed ? tool : { ...tool, handler: "echo" },
    );
    const again = await lab.attach(server, talk.id, { tools: now });
    assert.deepEqual(again.opened.tools, {
      ready: [same],
      missingHandlers: [removed],
      unknownToServer: [added],
      differentSchema: [removed],
    });
    assert.equal((await again.turn()).status, "finished");
    assert.equal((await again.outcome(same)).kind, "ok");
    assert.equal((await again.outcome(removed)).kind, "missing_handler");
  });
});

on(["service", "runtime"], (scenario) => {
  scenario("another schema and a tool that is taken back count from the next turn on", async ({ server, lab }) => {
    const [changed, gone] = [unique("changed"), unique("gone")];
    const talk = await lab.start(server, {
      tools: [describe(changed, slow(changed), TEXT), describe(gone)],
      // With every turn anew.
      steps: [
        { calls: [wanted(changed, { title: "t" })] },
        { calls: [{ ...wanted(changed, { title: 7 }), id: "call-number" }] },
        { text: "done" },
      ],
    });
    await talk.send("go");
    await talk.until("run", { tool: changed });
    await talk.declare(describe(changed, "text", NUMBER));
    await talk.ask("undeclare", gone);
    await lab.openGate(changed);
    assert.equal((await talk.idle()).status, "finished");
    assert.equal((await talk.turn()).status, "finished");
    const outcomes = await talk.outcomes(changed);
    assert.deepEqual(outcomes.map(({ kind, result }) => result ?? kind), [
      { echo: { title: "t" } },
      "invalid_arguments",
      "invalid_arguments",
      "abc",
    ]);
    assert.deepEqual(outcomes.slice(1, 3).map(({ issues }) => issues[0].expected), ["string", "number"]);
    const { exchanges } = await server.known(talk.id);
    const declared = exchanges.map((/** @type {any} */ exchange) =>
      exchange.clientSideTools.map((/** @type {any} */ { name, inputSchema }) => [name, inputSchema.properties?.title?.type]),
    );
    assert.deepEqual(declared, [[[changed, "string"], [gone, undefined]], [[changed, "number"]]]);
  });

  scenario("what is beyond a limit is answered in words, and the agent goes on", async ({ server, lab }) => {
    const [huge, wide] = [unique("huge"), unique("wide")];
    const talk = await lab.start(server, {
      tools: [describe(huge, "huge"), describe(wide)],
      limits: { resultBytes: 1_000, argumentBytes: 500 },
      steps: [{ calls: [wanted(huge, { size: 2_000 }), wanted(wide, { text: "x".repeat(600) })] }, { text: "I see" }],
    });
    assert.equal((await talk.turn()).status, "finished");
    const codes = [await talk.outcome(huge), await talk.outcome(wide)].map(({ code }) => code);
    assert.deepEqual(codes, ["result_too_large", "arguments_too_large"]);
    for (const [name, words] of [[huge, /result_too_large: the result has 20\d\d bytes/], [wide, /arguments_too_large/]]) {
      const [{ body }, ...more] = await server.answers(talk.id, `call-${name}`);
      assert.deepEqual(more, []);
      assert.match(body.output.error, /** @type {RegExp} */ (words));
    }
    assert.deepEqual((await talk.runs()).map(({ tool }) => tool), [huge]);
  });
});
