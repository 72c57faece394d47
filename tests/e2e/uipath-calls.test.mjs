// From a UiPath agent's call to the one answer that leaves.
import assert from "node:assert/strict";
import { object, unique } from "./support/steps.mjs";
import { on } from "./support/suite.mjs";
import { wanted as call } from "./support/uipath.mjs";

const tool = (/** @type {string} */ name, handler = "echo", more = {}) => ({ name, description: "Does.", handler, ...more });
const slow = (/** @type {string} */ name) => tool(name, /** @type {any} */ ({ kind: "slow_echo", gate: name }));

on(["service"], (scenario) => {
  scenario("what a handler returns reaches the agent as an object, and what JSON cannot carry as an error", async ({ server, lab }) => {
    const cases = {
      echo: { echo: {} },
      list: { result: [{ ok: true, n: null }] },
      text: { result: "abc" },
      date: { result: "1970-01-01T00:00:00.000Z" },
      nothing: { result: null },
      bigint: undefined,
      cycle: undefined,
    };
    const names = Object.fromEntries(Object.keys(cases).map((kind) => [kind, unique(kind)]));
    const talk = await lab.start(server, {
      tools: Object.entries(names).map(([kind, name]) => tool(name, kind)),
      steps: [{ calls: Object.values(names).map((name) => call(name)) }, { text: "thanks" }],
    });
    assert.equal((await talk.turn()).status, "finished");
    for (const [kind, output] of Object.entries(cases)) {
      const [{ body }, ...more] = await server.answers(talk.id, `call-${names[kind]}`);
      assert.deepEqual(more, [], kind);
      if (output) assert.deepEqual(body, { output }, kind);
      else assert.ok(body.isError && /result_not_serializable|TypeError/.test(body.output.error), JSON.stringify(body));
      const outcome = await talk.outcome(names[kind]);
      assert.equal(outcome.code, output ? undefined : "result_not_serializable", JSON.stringify(outcome));
    }
  });

  scenario("a result that is larger than the service takes becomes an error that says so", async ({ server, lab }) => {
    await server.levers({ max_payload: 20_000 });
    const [big, small] = [unique("big"), unique("small")];
    const talk = await lab.start(server, {
      tools: [tool(big, "huge"), tool(small, "huge")],
      steps: [{ calls: [call(big, { size: 30_000 }), call(small, { size: 10_000 })] }, { text: "thanks" }],
    });
    assert.equal((await talk.turn()).status, "finished");
    const [{ body }] = await server.answers(talk.id, `call-${big}`);
    assert.match(body.output.error, /^The result has 30\d+ bytes and the connection takes 20000: it was not sent/);
    assert.equal((await server.answers(talk.id, `call-${small}`))[0].body.output.text.length, 10_000);
    assert.ok((await talk.heard("notice")).some(({ code }) => code === "result_too_large"));
    assert.equal(lab.sockets.length, 1);
    await assert.rejects(talk.send("x".repeat(30_000)), { code: "invalid_argument" });
    await server.levers({});
  });

  scenario("the service ends a call whose handler runs: it is aborted and nothing leaves", async ({ server, lab }) => {
    const [work, refused] = [unique("work"), unique("refused")];
    const end = { isError: true, output: "Execution was blocked" };
    const talk = await lab.start(server, {
      tools: [tool(work, "never"), slow(refused)],
      steps: [
        { calls: [call(work, {}, { blockedAfterMs: 300, result: end }), call(refused)] },
        { text: "thanks" },
      ],
    });
    await talk.send("go");
    await talk.until("abort");
    await lab.openGate(refused);
    assert.equal((await talk.idle()).status, "finished");
    assert.deepEqual(await server.answers(talk.id, `call-${work}`), []);
    assert.equal((await server.answers(talk.id, `call-${refused}`)).length, 1);
    const outcome = await talk.outcome(work);
    assert.match(outcome.message, /blocked/);
    assert.equal(outcome.kind, "cancelled");
  });

  scenario("a call without the mark of a client's is told and never run, and answered where the app wants that", async ({ server, lab, runs }) => {
    const [silent, spoken] = [unique("silent"), unique("spoken")];
    const steps = (/** @type {string} */ name) => [{ calls: [call(name, {}, { hideFlags: true })] }, { text: "go on" }];
    const [still, answers] = await Promise.all([
      lab.start(server, { tools: [tool(silent)], steps: steps(silent) }),
      lab.start(server, { tools: [tool(spoken)], steps: steps(spoken), answerUnflagged: true }),
    ]);
    await still.send("go");
    assert.equal((await answers.turn()).status, "finished");
    const [{ body }, ...more] = await server.answers(answers.id, `call-${spoken}`);
    assert.deepEqual(more, []);
    assert.ok(body.isError && body.output.error.includes("not marked"), JSON.stringify(body));
    await still.until("notice", { code: "unflagged_call" });
    assert.deepEqual(await server.answers(still.id, `call-${silent}`), []);
    assert.deepEqual(runs.all, []);
    await still.ask("stop", {});
  });

  scenario("a call whose beginning was missed is not run, and is answered once", async ({ server, lab, runs }) => {
    const lost = unique("lost");
    const ghost = { messageId: "ghosts", toolCall: { toolCallId: "ghost", executingToolCall: { input: {} } } };
    await server.faults([{ fault: "swallow", match: { kind: "startToolCall", tool: lost } }]);
    const talk = await lab.start(server, {
      tools: [tool(lost)],
      steps: [{ text: "look", event: ghost }, { calls: [call(lost)] }, { text: "go on" }],
    });
    assert.equal((await talk.turn()).status, "finished");
    const [{ body }, ...more] = await server.answers(talk.id, `call-${lost}`);
    assert.deepEqual(more, []);
    assert.ok(body.isError);
    assert.deepEqual(await server.answers(talk.id, "ghost"), []);
    assert.deepEqual(runs.all, []);
    assert.deepEqual((await talk.heard("notice")).map(({ code }) => code), ["unknown_call", "unknown_call"]);
  });

  scenario("a second go signal runs nothing, while the handler runs and after it", async ({ server, lab }) => {
    const work = unique("work");
    const again = { executingToolCall: { input: { again: true } } };
    const hold = unique("hold");
    const late = { exchange: { exchangeId: "", message: { messageId: "late", toolCall: { toolCallId: `call-${work}`, ...again } } } };
    const talk = await lab.start(server, {
      tools: [slow(work)],
      steps: [{ calls: [call(work, {}, { then: [again] })] }, { hold, text: "thanks" }],
    });
    await talk.send("go");
    const { n } = await talk.until("notice", { code: "late_signal" });
    await lab.openGate(work);
    await talk.until("call", { tool: work, state: "settled" });
    late.exchange.exchangeId = (await server.known(talk.id)).exchanges[0].exchangeId;
    await server.emit(talk.id, late, false);
    await talk.until("notice", { code: "late_signal" }, { after: n });
    await server.release(hold);
    assert.equal((await talk.idle()).status, "finished");
    assert.deepEqual((await talk.runs(work)).map(({ args }) => args), [{}]);
    assert.equal((await server.answers(talk.id, `call-${work}`)).length, 1);
  });

  scenario("one answer leaves for a call, whatever becomes of sockets and frames", async ({ server, lab }) => {
    const names = Array.from({ length: 6 }, () => unique("work"));
    const talk = await lab.start(server, {
      tools: names.map(slow),
      steps: [{ calls: names.map((name) => call(name)) }, { text: "thanks" }],
    });
    await talk.send("go");
    for (const name of names) await talk.until("run", { tool: name });
    for (const [at, action] of ["cut", "disconnect", "delay", "drop", "swallow", "duplicate"].entries()) {
      const id = `call-${names[at]}`;
      const match = { kind: "endToolCall", call: id, from: "peer" };
      const { n } = (await talk.tape()).at(-1);
      if (action === "cut" || action === "disconnect") await server.disturb(talk.id, action);
      else if (action === "drop") await server.faults([{ fault: "drop_socket", after: match }]);
      else if (action === "swallow") await server.faults([{ fault: "swallow", match }]);
      else await server.faults([{ fault: action, match, ms: 300 }]);
      await lab.openGate(names[at]);
      await talk.until("call", { tool: names[at], state: "settled" });
      if (action === "delay") await server.disturb(talk.id, "cut");
      if (action === "swallow") {
        await server.hit("swallow");
        await server.disturb(talk.id, "cut");
      }
      if (action !== "duplicate") await talk.until("connection", { state: "ready" }, { after: n });
      if (at < names.length - 1) await server.until(talk.id, ({ answers }) => answers.some(({ toolCallId }) => toolCallId === id));
    }
    assert.equal((await talk.idle()).status, "finished");
    for (const name of names) {
      const answers = await server.answers(talk.id, `call-${name}`);
      // The network itself made two of the last one.
      assert.equal(answers.length, name === names.at(-1) ? 2 : 1, name);
      assert.equal((await talk.runs(name)).length, 1);
    }
  });
});
