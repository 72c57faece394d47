// UiPath's full agent: what its model reads of the page's answers is asserted.
import assert from "node:assert/strict";
import { object } from "../e2e/support/steps.mjs";
import { on } from "../e2e/support/suite.mjs";

const task = object({ title: { type: "string", minLength: 3 }, dueDate: { type: ["string", "null"] } }, { required: ["title"] });
const tools = [
  { name: "read_board_tasks", description: "Reads.", inputSchema: object({ boardId: { type: "string" } }), handler: "echo" },
  { name: "create task", description: "Creates.", inputSchema: task, handler: "echo" },
];

on(["agent"], (scenario) => {
  scenario("the agent reads the board, has a task created that a person changed, and goes on with both", async ({ server, lab }) => {
    const talk = await lab.start(server, { tools, steps: [{ text: "not played" }] });
    await talk.send("plan the week");
    await server.until(talk.id, ({ sockets }) => sockets.runtime !== null);
    const { value } = await talk.until("approval");
    assert.deepEqual(value.calls[0].arguments, { title: "Review the Q3 report", dueDate: "2026-12-04" });
    await talk.decide("create task", true, { arguments: { title: "Review Q3 with Ann", dueDate: "2026-12-04" } });
    assert.equal((await talk.idle()).status, "finished");
    assert.deepEqual((await talk.runs()).map(({ tool, args }) => [tool, args]), [
      ["read_board_tasks", { boardId: "b1" }],
      ["create task", { title: "Review Q3 with Ann", dueDate: "2026-12-04" }],
    ]);
    const { text } = (await talk.heard("message")).at(-1);
    assert.match(text, /^Seen tool results: /);
    assert.match(text, /User has modified the tool arguments.*Review Q3 with Ann/);
  });

  scenario("the model reads in words what went wrong", async ({ server, lab }) => {
    const talk = await lab.start(server, { tools: [{ ...tools[0], handler: "throws" }, tools[1]], steps: [{ text: "not played" }] });
    await talk.send("both of them");
    await server.until(talk.id, ({ sockets }) => sockets.runtime !== null);
    await talk.until("approval");
    await talk.decide("create task", false, "not now");
    assert.equal((await talk.idle()).status, "finished");
    const { text } = (await talk.heard("message")).at(-1);
    assert.match(text, /Seen tool results: .*error.*\|.*Cancelled by user/);
  });
});
