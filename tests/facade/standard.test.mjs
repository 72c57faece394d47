// Tools whose schemas are a library's, over real sockets, with the mock agent server.
import assert from "node:assert/strict";
import { test } from "node:test";
import { toJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import * as z from "zod";
import { agent, freshCopy, load, mockServer, withSockets } from "./help.mjs";

const pagehand = await load("index.js");
const { tool } = pagehand;

/** Plays one call; how it ended. */
async function played(t, declared, args, { openhands } = pagehand) {
  const mock = await mockServer(t, { play: [{ tool_calls: [{ name: "schedule", arguments: args }] }, { finish: "done" }] });
  const server = openhands({ url: mock.url, sessionKey: "canary-key" });
  const conversation = await server.start({ workspace: "/w", agent: agent("play"), tools: [declared] });
  t.after(() => conversation.close());
  const ended = [];
  conversation.on("call", ({ state, outcome }) => state === "settled" && ended.push(outcome));
  await conversation.send("go");
  await conversation.idle();
  return ended;
}

const about = { name: "schedule", description: "Schedules a task" };
// What trims has no JSON Schema, so that one has to stand beside it.
const valibot = v.object({
  title: v.pipe(v.string(), v.trim(), v.minLength(1)),
  column: v.optional(v.picklist(["todo", "doing"]), "todo"),
  due: v.pipe(v.string(), v.isoDate()),
});
const libraries = {
  zod: z.object({
    title: z.string().trim().min(1),
    column: z.enum(["todo", "doing"]).default("todo"),
    due: z.iso.date().transform((text) => new Date(text)),
  }),
  Valibot: { schema: valibot, jsonSchema: toJsonSchema(valibot, { errorMode: "ignore", typeMode: "input" }) },
};

await withSockets(import.meta.url, () => {
  for (const [library, inputSchema] of Object.entries(libraries)) {
    test(`a handler gets what ${library} makes of the arguments, and a guard what the agent gave`, async (t) => {
      const given = [];
      const declared = tool({
        ...about,
        inputSchema,
        confirm: (args) => given.push(args) === 0,
        execute: (args) => {
          given.push(args);
          return args.title;
        },
      });
      const ended = await played(t, declared, { title: " Write ", due: "2026-12-01" });
      assert.deepEqual(ended, [{ kind: "ok", result: "Write" }]);
      const due = library === "zod" ? new Date("2026-12-01") : "2026-12-01";
      assert.deepEqual(given, [{ title: " Write ", due: "2026-12-01" }, { title: "Write", column: "todo", due }]);
    });

    test(`arguments that ${library} does not let through never reach a handler`, async (t) => {
      const execute = () => assert.fail("it ran");
      const ended = await played(t, tool({ ...about, inputSchema, execute }), { title: "Write", column: "done", due: "2026-12-01" });
      assert.deepEqual(ended.map(({ kind, issues }) => [kind, issues.map(({ path }) => path)]), [["invalid_arguments", ["/column"]]]);
    });
  }

  test("a library judges what it is given and gives, in its own words, and the schema engine is not needed", async (t) => {
    const bare = await load("index.js", await freshCopy(t, ["schema.wasm"]));
    const inputSchema = z.object({ title: z.string(), tags: z.array(z.string().max(1)) }).refine(({ title }) => title !== "x", { path: ["title"], message: "not x" });
    const declared = bare.tool({ ...about, inputSchema, outputSchema: z.object({ "a/b": z.number() }), execute: ({ tags }) => ({ "a/b": tags[0] }) });
    const issues = async (args) => (await played(t, declared, args, bare)).map(({ kind, issues }) => [kind, ...issues.map(({ path, keyword }) => [path, keyword])]);
    assert.deepEqual(await issues({ title: "y", tags: ["a", "bb"] }), [["invalid_arguments", ["/tags/1", "too_big"]]]);
    assert.deepEqual(await issues({ title: "x", tags: [] }), [["invalid_arguments", ["/title", "custom"]]]);
    assert.deepEqual(await issues({ title: "y", tags: ["a"] }), [["invalid_output", ["/a~1b", "invalid_type"]]]);
    const open = bare.tool({ ...about, inputSchema: { schema: z.looseObject({}).refine(() => false), jsonSchema: { type: "object" } }, execute: () => 1 });
    assert.equal((await played(t, open, {}, bare))[0].kind, "invalid_arguments");
  });

  test("a tool that is made from a tool keeps its schema", async (t) => {
    const first = tool({ ...about, inputSchema: libraries.zod });
    const handled = tool({ ...first, execute: ({ due }) => due.getUTCFullYear() });
    const ended = await played(t, tool(handled), { title: "x", due: "2026-12-01" });
    assert.deepEqual(ended, [{ kind: "ok", result: 2026 }]);
  });
});
