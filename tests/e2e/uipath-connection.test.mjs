// The one socket of all conversations with UiPath's service, and the tokens that open it.
import assert from "node:assert/strict";
import { KEY, NEXT_KEY } from "./support/servers.mjs";
import { unique } from "./support/steps.mjs";
import { on } from "./support/suite.mjs";
import { wanted as call } from "./support/uipath.mjs";

const echo = (/** @type {string} */ name) => ({ name, description: "Echoes.", handler: "echo" });
const text = (/** @type {string} */ words) => [{ text: words }];
/** The agent calls a tool in every turn. @param {string} name */
const calling = (name) => [{ calls: [call(name)] }, { text: "done" }];

/** The tokens with which a page's sockets asked to be let in. @param {import("./support/page.mjs").Lab} lab */
const tokens = (lab) => lab.sockets.map(({ sent }) => JSON.parse((sent.find((packet) => packet.startsWith("40")) ?? "40{}").slice(2)).token);

on(["service"], (scenario) => {
  scenario("conversations share one socket, which goes with the last of them", async ({ server, lab }) => {
    const [first, second] = [unique("first"), unique("second")];
    const [one, other, third] = await Promise.all([
      lab.start(server, { tools: [echo(first)], steps: calling(first) }),
      lab.start(server, { tools: [echo(second)], steps: calling(second) }),
      lab.start(server, { steps: text("hello") }),
    ]);
    const ends = await Promise.all([one.turn(), other.turn(), third.turn()]);
    assert.deepEqual(ends.map(({ status }) => status), ["finished", "finished", "finished"]);
    assert.deepEqual([await one.outcomes(second), await other.outcomes(first), (await third.heard("call")).length], [[], [], 0]);
    assert.equal(lab.sockets.length, 1);
    const sockets = await Promise.all([one, other, third].map(async ({ id }) => (await server.known(id)).sockets.clients));
    assert.ok(sockets.every((list) => list.length === 1 && list[0] === sockets[0][0]), JSON.stringify(sockets));

    await one.close();
    assert.equal((await other.turn()).status, "finished");
    await other.close();
    await third.close();
    await server.until(third.id, (known) => known.sockets.clients.length === 0);
    const again = await lab.attach(server, one.id, { tools: [echo(first)] });
    assert.equal((await again.turn()).status, "finished");
    assert.equal(lab.sockets.length, 2);
  });

  scenario("a session that is about to end is followed by one on a fresh socket, before the old one goes", async ({ server, lab }) => {
    const hold = unique("hold");
    const tool = unique("tool");
    const talk = await lab.start(server, { tools: [echo(tool)], steps: [{ text: "wait" }, { hold, calls: [call(tool)] }] });
    await talk.send("go");
    await talk.until("message", { text: "wait" });
    await server.steer("DELETE", "/record");
    const [old] = (await server.known(talk.id)).sockets.clients;
    await server.emit(talk.id, { sessionEnding: { timeToLiveMS: 5_000 } });
    await server.until(talk.id, ({ sockets }) => sockets.clients.length === 1 && sockets.clients[0] !== old);
    const lines = (await server.record()).filter(({ ch, dir }) => ch === "ws" && (dir === "open" || dir === "close"));
    assert.deepEqual(lines.map(({ dir }) => dir), ["open", "close"]);
    assert.notEqual(lines[0].label, lines[1].label);
    await server.release(hold);
    assert.equal((await talk.idle()).status, "finished");
    assert.equal((await talk.runs(tool)).length, 1);
    const states = (await talk.heard("connection")).map(({ state }) => state);
    assert.ok(!states.includes("lost"), states.join());
  });

  scenario("after 41, a cut or a close code the conversation goes on, on another socket", async ({ server, lab }) => {
    const tool = unique("tool");
    const talk = await lab.start(server, { tools: [echo(tool)], steps: calling(tool) });
    for (const [action, more] of [["disconnect"], ["cut"], ["close", { code: 1011 }]]) {
      const { n } = (await talk.tape()).at(-1);
      await server.disturb(talk.id, action, more);
      await talk.until("connection", { state: "lost" }, { after: n });
      await talk.until("connection", { state: "ready" }, { after: n });
      assert.equal((await talk.turn()).status, "finished", action);
    }
    assert.equal(lab.sockets.length, 4);
    assert.equal((await talk.runs(tool)).length, 3);
    const { exchanges, dropped } = await server.known(talk.id);
    assert.ok(exchanges.length === 3 && exchanges.every(({ clientSideTools }) => clientSideTools[0].name === tool));
    assert.deepEqual(dropped, []);
  });

  scenario("a token is asked for at each connection, and again when one is refused", async ({ server, lab }) => {
    await server.accept({ tokens: [KEY, NEXT_KEY] });
    const talk = await lab.start(server, { key: [KEY, KEY, NEXT_KEY], steps: text("hello") });
    assert.equal((await talk.turn()).status, "finished");
    const asked = await lab.run("tokensAsked");
    await server.faults([{ fault: "refuse_connect", code: 401 }]);
    const { n } = (await talk.tape()).at(-1);
    await server.disturb(talk.id, "cut");
    await talk.until("connection", { state: "ready" }, { after: n });
    assert.equal(await lab.run("tokensAsked"), asked + 2);
    assert.deepEqual(tokens(lab), [KEY, NEXT_KEY, NEXT_KEY]);
    assert.equal((await talk.turn()).status, "finished");
  });

  scenario("tokens that the service does not take, or that nobody has, are told by code", async ({ server, lab }) => {
    const other = await lab.start(server, { steps: text("hello") });
    for (const key of ["canary-wrong", ["canary-wrong"], [null]]) {
      const opening = lab.start(server, { key, steps: text("hello") });
      await assert.rejects(opening, (error) => error.code === "unauthorized" && error.pagehands && !JSON.stringify(error).includes("canary-wrong"));
    }
    // What is refused at the socket only.
    await server.faults([{ fault: "refuse_connect", code: 401, times: 0 }]);
    await assert.rejects(lab.start(server, { key: [KEY, KEY, KEY, KEY], steps: text("hello") }), { code: "unauthorized" });
    await server.faults([{ fault: "refuse_connect", message: "Forbidden", code: 403, times: 0 }]);
    await assert.rejects(lab.start(server, { key: [KEY, KEY, KEY, KEY, KEY], steps: text("hello") }), { code: "request_refused" });
    assert.equal((await other.turn()).status, "finished");
    assert.ok(lab.urls.every((url) => !/token|canary/i.test(url)), lab.urls.join("\n"));
  });

  scenario("a service that refuses for a while is tried again", async ({ server, lab }) => {
    const talk = await lab.start(server, { steps: text("hello") });
    await server.faults([{ fault: "refuse_connect", message: "Busy", times: 2 }]);
    const { n } = (await talk.tape()).at(-1);
    await server.disturb(talk.id, "disconnect");
    await talk.until("connection", { state: "ready" }, { after: n });
    const lost = (await talk.heard("connection")).filter(({ state }) => state === "lost");
    assert.deepEqual([lost.length, lost.filter(({ reason }) => reason.includes("Busy")).length], [3, 2]);
    assert.equal((await talk.turn()).status, "finished");
  });

  scenario("frames twice, late and in words that nobody knows change nothing", async ({ server, lab }) => {
    const tool = unique("tool");
    const talk = await lab.start(server, { tools: [echo(tool)], steps: calling(tool) });
    await server.faults([
      { fault: "duplicate", match: { kind: "startToolCall" } },
      { fault: "duplicate", match: { kind: "executingToolCall" } },
      { fault: "extra_argument", match: { kind: "startMessage" } },
      { fault: "ask_ack", match: { kind: "endMessage" } },
      { fault: "foreign_event", match: { kind: "executingToolCall" } },
      { fault: "binary_event", match: { kind: "endMessage" } },
      { fault: "huge", match: { kind: "startToolCall" }, bytes: 200_000 },
      { fault: "malformed", match: { kind: "chunk" }, raw: "42[" },
    ]);
    assert.equal((await talk.turn()).status, "finished");
    assert.ok((await server.fired()).every(({ fired }) => fired === 1));
    assert.equal((await talk.runs(tool)).length, 1);
    assert.deepEqual((await server.answers(talk.id, `call-${tool}`)).map(({ kind }) => kind), ["endToolCall"]);
    const notices = (await talk.heard("notice")).map(({ code }) => code);
    for (const code of ["duplicate_event", "late_signal", "malformed_frame"]) assert.ok(notices.includes(code), notices.join());
    assert.equal(lab.sockets.length, 1);
  });
});

on(
  ["service"],
  (scenario) => {
    scenario("a socket that is only half there is noticed by its silence, and what was lost on it comes again", async ({ server, lab }) => {
      const tool = unique("tool");
      const talk = await lab.start(server, { tools: [echo(tool)], steps: calling(tool) });
      await server.faults([{ fault: "half_open", match: { kind: "endToolCall", from: "peer" } }]);
      assert.equal((await talk.turn()).status, "finished");
      const [lost] = (await talk.heard("connection")).filter(({ state }) => state === "lost");
      assert.match(lost.reason, /half-open/);
      assert.equal((await server.answers(talk.id, `call-${tool}`)).length, 1);
      assert.equal((await talk.runs(tool)).length, 1);
    });
  },
  { options: ["--uipath-ping-interval-ms", "1500", "--uipath-ping-timeout-ms", "1500"] },
);
