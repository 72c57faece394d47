// Questions to a person: UiPath's agent's, the tool's own, and what the app's guards think of calls.
import assert from "node:assert/strict";
import { object, unique } from "./support/steps.mjs";
import { on } from "./support/suite.mjs";
import { enveloped, wanted as call } from "./support/uipath.mjs";

const sized = object({ size: { type: "integer", maximum: 100 } }, { required: ["size"] });
const tool = (/** @type {string} */ name, more = {}) => ({ name, description: "Does.", inputSchema: sized, handler: "echo", ...more });
const body = async (server, talk, name) => (await server.answers(talk.id, `call-${name}`)).map((answer) => answer.body);

on(["service"], (scenario) => {
  scenario("an edit that does not fit the schema is refused, and the question stays", async ({ server, lab, runs }) => {
    const create = unique("create");
    const talk = await lab.start(server, {
      tools: [tool(create)],
      steps: [{ calls: [call(create, { size: 1 }, { confirm: true, inputSchema: sized })] }, { text: "thanks" }],
    });
    await talk.send("go");
    await talk.until("approval");
    for (const [edit, path, keyword] of [[{ size: "big" }, "/size", "type"], [{ size: 101 }, "/size", "maximum"], [{}, "", "required"]]) {
      await assert.rejects(talk.decide(create, true, { arguments: edit }), ({ code, details }) => {
        assert.equal(code, "invalid_edit");
        assert.deepEqual(details.issues.map((issue) => [issue.path, issue.keyword]), [[path, keyword]]);
        return true;
      });
    }
    await assert.rejects(talk.decide(create, true, { arguments: [1] }), { code: "invalid_argument" });
    assert.deepEqual([await body(server, talk, create), runs.all, (await talk.state()).approvals.length], [[], [], 1]);
    await talk.decide(create, true, { arguments: { size: 2 } });
    assert.equal((await talk.idle()).status, "finished");
    assert.deepEqual(await body(server, talk, create), [{ approved: true, input: { size: 2 } }, { output: { echo: { size: 2 } } }]);
    await assert.rejects(talk.approve(), { code: "approval_answered" });
  });

  scenario("a tool of the server may ask too: it is answered, and never run", async ({ server, lab, runs }) => {
    const [mail, known] = [unique("mail"), unique("known")];
    const asks = { confirm: true, clientSide: false, result: { output: "sent" } };
    const talk = await lab.start(server, {
      tools: [tool(known)],
      steps: [{ calls: [call(mail, { size: 1 }, asks), call(known, { size: 2 }, asks)] }, { text: "thanks" }],
    });
    await talk.send("go");
    await talk.until("approval", { calls: { 0: { tool: known, client: false } } });
    const late = talk.decide(known, false, "no");
    await talk.decide(mail, true);
    await late;
    assert.equal((await talk.idle()).status, "finished");
    assert.deepEqual(await body(server, talk, mail), [{ approved: true, input: { size: 1 } }]);
    assert.deepEqual(await body(server, talk, known), [{ approved: false }]);
    assert.deepEqual([runs.all, await talk.heard("call")], [[], []]);
  });

  scenario("an old agent's way of asking is answered in its way", async ({ server, lab }) => {
    const [yes, no] = [unique("yes"), unique("no")];
    const asks = { confirm: true, interrupt: true, clientSide: false, inputSchema: sized, result: { output: "done" } };
    const talk = await lab.start(server, {
      steps: [{ calls: [call(yes, { size: 1 }, asks), call(no, { size: 2 }, asks)] }, { text: "thanks" }],
    });
    await talk.send("go");
    await talk.until("approval", { calls: { 0: { tool: yes } } });
    await talk.decide(yes, true, { arguments: { size: 3 } });
    await talk.until("approval", { calls: { 0: { tool: no } } });
    await talk.decide(no, false, "no");
    assert.equal((await talk.idle()).status, "finished");
    const sent = lab.sockets[0].sent.filter((packet) => packet.includes('"endInterrupt"')).map(enveloped);
    assert.deepEqual(
      sent.map(({ exchange }) => exchange.message.interrupt.endInterrupt),
      [{ approved: true, input: { size: 3 } }, { approved: false }],
    );
    assert.deepEqual((await server.known(talk.id)).answers, []);
  });

  scenario("a page asks for itself before a handler starts, where the tool says so", async ({ server, lab, runs }) => {
    const [always, large, odd, rejected] = ["always", "large", "odd", "rejected"].map(unique);
    const talk = await lab.start(server, {
      tools: [
        tool(always, { confirm: true }),
        tool(large, { confirm: "large" }),
        tool(odd, { confirm: "throws" }),
        tool(rejected, { confirm: true }),
      ],
      steps: [
        { calls: [call(always, { size: 1 }), call(large, { size: 10 }), call(odd, { size: 2 }), call(rejected, { size: 3 })] },
        { calls: [{ ...call(large, { size: 11 }), id: "call-larger" }] },
        { text: "thanks" },
      ],
    });
    await talk.send("go");
    await talk.until("approval", { calls: { 0: { tool: rejected, client: true, editable: true } } });
    await assert.rejects(talk.decide(always, true, { arguments: { size: 101 } }), { code: "invalid_edit" });
    await talk.decide(always, true, { arguments: { size: 5 } });
    await talk.decide(rejected, false, "not on this board");
    await talk.until("approval", { calls: { 0: { tool: large, arguments: { size: 11 } } } });
    await talk.decide(large, true);
    assert.equal((await talk.idle()).status, "finished");

    assert.deepEqual(await body(server, talk, always), [{ output: { echo: { size: 5 } } }]);
    assert.deepEqual(await body(server, talk, large), [{ output: { echo: { size: 10 } } }]);
    assert.deepEqual((await server.answers(talk.id, "call-larger")).map((answer) => answer.body), [{ output: { echo: { size: 11 } } }]);
    const [no] = await body(server, talk, rejected);
    assert.ok(no.isError && no.output.error.includes("not on this board"), JSON.stringify(no));
    const [unsure] = await body(server, talk, odd);
    assert.ok(unsure.isError && unsure.output.error.includes("no opinion"), JSON.stringify(unsure));
    assert.deepEqual(runs.all.map(({ tool: name }) => name).sort(), [always, large, large].sort());
    const edits = (await talk.heard("call")).filter((step) => step.tool === always).flatMap((step) => step.edits ?? []);
    assert.deepEqual(edits, [{ path: "/size", from: 1, to: 5 }]);
    const way = ["announced", "authorised", "validating", "claiming", "guarding", "confirming", "confirming", "running", "settled"];
    assert.deepEqual(await talk.states(always), way);
  });

  scenario("guards let calls pass, block them, change what they get, and what becomes of it", async ({ server, lab, runs }) => {
    const [free, blocked, refused, thrown, changed, misfit, replaced, kept] = ["free", "blocked", "refused", "thrown", "changed", "misfit", "replaced", "kept"].map(unique);
    const names = [free, blocked, refused, thrown, changed, misfit, replaced, kept];
    const talk = await lab.start(server, {
      tools: names.map((name) => tool(name)),
      guards: [
        { before: { tool: free, says: true }, after: { tool: free } },
        { before: { tool: blocked, says: false } },
        { before: { tool: refused, says: { block: "not today" } } },
        { before: { tool: thrown, throws: "a guard's fault" } },
        { before: { tool: changed, says: { arguments: { size: 7 } } } },
        { before: { tool: misfit, says: { arguments: { size: "many" } } } },
        { after: { tool: replaced, says: { result: { hidden: true } } } },
        { after: { tool: kept, says: { block: "a secret" } } },
        { before: { tool: changed, says: undefined } },
      ],
      steps: [{ calls: names.map((name) => call(name, { size: 1 })) }, { text: "thanks" }],
    });
    assert.equal((await talk.turn()).status, "finished");

    const told = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await body(server, talk, name)])));
    for (const [name, output] of [[free, { echo: { size: 1 } }], [changed, { echo: { size: 7 } }], [replaced, { hidden: true }]]) {
      assert.deepEqual(told[name], [{ output }], name);
    }
    for (const [name, words] of [[blocked, "does not allow"], [refused, "not today"], [thrown, "a guard's fault"], [misfit, "/size"], [kept, "a secret"]]) {
      assert.ok(told[name].length === 1 && told[name][0].isError && told[name][0].output.error.includes(words), JSON.stringify(told[name]));
    }
    assert.ok(!JSON.stringify(told[kept]).includes("echo"));
    assert.deepEqual(runs.all.map((run) => run.tool).sort(), [free, changed, replaced, kept].sort());
    const seen = (await talk.heard("guard")).filter(({ tool: name }) => name === changed).map((guarded) => guarded.arguments);
    assert.deepEqual(seen, [{ size: 1 }, { size: 7 }]);
    const kinds = await Promise.all(names.map(async (name) => (await talk.outcome(name)).kind));
    assert.deepEqual(kinds, ["ok", "rejected", "rejected", "rejected", "ok", "invalid_arguments", "ok", "failed"]);
    assert.equal((await talk.outcome(kept)).code, "result_withheld");
  });
});
