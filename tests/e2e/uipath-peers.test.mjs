// Socket.IO's own packages on the other side: its server before our client, and its client before our stand-in.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { io } from "socket.io-client";
import { KEY } from "./support/servers.mjs";
import { unique } from "./support/steps.mjs";
import { on } from "./support/suite.mjs";
import { toolCall, wanted as call } from "./support/uipath.mjs";

on(["library"], (scenario) => {
  scenario("our client goes through turns, pings, acknowledgements and farewells of Socket.IO's server", async ({ server, lab }) => {
    const work = (server.tool = unique("work"));
    const tools = [{ name: work, description: "Works.", handler: { kind: "slow_echo", gate: work } }];
    const talk = await lab.start(server, { tools });
    await talk.send("go");
    await talk.until("run");
    await server.ponged(3);
    await lab.openGate(work);
    assert.equal((await talk.idle()).status, "finished");
    assert.deepEqual(server.heard.map(toolCall).flatMap(({ endToolCall }) => endToolCall ?? []), [{ output: { echo: { n: 1 } } }]);
    assert.deepEqual([server.acknowledged, server.admitted], [1, 1]);

    for (const transport of [false, true]) {
      const { n } = /** @type {any} */ ((await talk.tape()).at(-1));
      server.disconnect(transport);
      await talk.until("connection", { state: "ready" }, { after: n });
      assert.equal((await talk.turn()).status, "finished");
    }
    assert.equal(server.admitted, 3);
    assert.equal((await talk.runs(work)).length, 3);
    await assert.rejects(lab.start(server, { key: "canary-wrong" }), { code: "unauthorized" });
  });
});

on(["service"], (scenario) => {
  scenario("Socket.IO's client goes through a turn with our stand-in, and is sent away as by any server", async ({ server, onEnd }) => {
    const connect = (/** @type {string} */ token) => {
      const { organization, tenant } = server.address();
      const query = { "x-uipath-internal-accountid": organization, "x-uipath-internal-tenantid": tenant };
      const socket = io(server.url, { transports: ["websocket"], auth: { token }, query, forceNew: true, reconnectionDelay: 50 });
      onEnd(() => void socket.close());
      return socket;
    };
    const [refusal] = await once(connect("wrong"), "connect_error");
    assert.equal(refusal.data.code, 401);

    const [name, script] = [unique("work"), unique("script")];
    await server.script(script, [{ calls: [call(name, { n: 1 })] }, { text: "{output:call-" + name + "}" }]);
    const { organization, tenant } = server.address();
    const request = { method: "POST", headers: { Authorization: `Bearer ${KEY}`, "Content-Type": "application/json" } };
    const address = `${server.url}/${organization}/${tenant}/autopilotforeveryone_/api/v1/conversation`;
    const body = JSON.stringify(server.starting(script, {}));
    const { conversationId } = /** @type {any} */ (await (await fetch(address, { ...request, body })).json());

    const socket = connect(KEY);
    /** @type {any[]} */
    const heard = [];
    const say = (/** @type {object} */ members) => socket.emit("ConversationEvent", { conversationId, ...members });
    const ended = new Promise((resolve) => {
      socket.on("ConversationEvent", (envelope) => {
        heard.push(envelope);
        const { exchange } = envelope;
        if (envelope.sessionStarted) {
          const [exchangeId, messageId, contentPartId] = [randomUUID(), randomUUID(), randomUUID()];
          const part = { contentPartId, startContentPart: { mimeType: "text/plain" }, chunk: { data: "go" }, endContentPart: {} };
          const message = { messageId, startMessage: { role: "user" }, contentPart: part, endMessage: {} };
          say({ exchange: { exchangeId, startExchange: { clientSideTools: [{ name }] }, message } });
        }
        const { toolCallId, executingToolCall } = toolCall(envelope);
        if (executingToolCall) {
          const { exchangeId, message: { messageId } } = exchange;
          say({ exchange: { exchangeId, message: { messageId, toolCall: { toolCallId, endToolCall: { output: executingToolCall.input } } } } });
        }
        if (exchange?.endExchange) resolve(undefined);
      });
    });
    await once(socket, "connect");
    say({ startSession: {} });
    await ended;
    assert.deepEqual((await server.resumed(conversationId)).map(({ output }) => output), [{ n: 1 }]);
    const words = heard.map(({ exchange }) => exchange?.message?.contentPart?.chunk?.data ?? "").join("");
    assert.ok(words.includes('{"n": 1}'), words);

    for (const [action, reason] of [["cut", "transport close"], ["disconnect", "io server disconnect"]]) {
      const gone = once(socket, "disconnect");
      await server.disturb(conversationId, action);
      assert.equal((await gone)[0], reason);
      if (action === "disconnect") continue;
      await once(socket, "connect");
      say({ startSession: {} });
      await server.until(conversationId, ({ sockets }) => sockets.clients.includes(/** @type {string} */ (socket.id)));
    }
  });
});
