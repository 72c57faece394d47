// An app with a socket of its own: the runtime of the tools alone.
import assert from "node:assert/strict";
import { call, finish, unique } from "./support/steps.mjs";
import { on } from "./support/suite.mjs";

const describe = (name, handler = "echo") => ({ name, description: `Does ${name}.`, handler });

for (const [servers, route] of [
  [["mock", "real"], "session"],
  [["mock", "legacy", "real"], "events"],
]) {
  on(servers, (scenario) => {
    scenario(`calls that the app hears over /sockets/${route} run once, also when it hears them twice`, async ({ server, lab }) => {
      const [one, gone] = [unique("one"), unique("gone")];
      // The server knows the tools from somebody else, who is not here any more.
      const other = await lab.start(server, {
        tools: [describe(one), describe(gone)],
        steps: [call(one, {}), call(gone, {}), finish("ok")],
      });
      await other.close();
      const talk = await lab.dispatch(server, other.id, { tools: [describe(one)], route, twice: true });
      await talk.send("go");
      await talk.until("call", { tool: gone, state: "settled" });
      assert.equal((await talk.idle()).status, "finished");
      assert.equal((await talk.runs(one)).length, 1);
      assert.equal((await talk.outcome(one)).kind, "ok");
      assert.equal((await talk.outcome(gone)).kind, "missing_handler");
      assert.ok((await talk.heard("notice")).some(({ code }) => code === "duplicate_event"));
    });
  });
}
