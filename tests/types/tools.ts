// Declaring tools.
import { tool, type CallContext, type Handler, type JsonSchema, type Tool, type ToolDefinition } from "pagehand";

const openFile = tool({
  name: "open_file",
  description: "Opens a file",
  inputSchema: { type: "object", properties: { path: { type: "string" }, line: { type: "integer" } }, required: ["path"] },
  outputSchema: { type: "object" },
  annotations: { title: "Open", readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  timeout: 30_000,
  runOn: "acknowledgement",
  confirm: ({ line }) => (line satisfies number | undefined) === 1,
  async execute(args, { signal, callId, conversation }) {
    args.path satisfies string;
    args.line satisfies number | undefined;
    signal satisfies AbortSignal;
    callId satisfies string;
    await conversation.send("opened");
    // @ts-expect-error: not an argument
    args.column;
    return { opened: true };
  },
});
openFile satisfies Tool<{ path: string; line?: number }>;
openFile.inputSchema satisfies JsonSchema;
// @ts-expect-error: frozen
openFile.timeout = 5;

// A handler is a function: a test may call it.
export async function called(context: CallContext): Promise<object | undefined> {
  // @ts-expect-error: a path is missing
  await openFile.execute?.({}, context);
  return openFile.execute?.({ path: "a.ts" }, context);
}

// A ClientToolSpec is a definition, and `as const` is no obstacle.
const spec = { name: "show", description: "Shows", parameters: { type: "object", required: ["a"] }, annotations: null } as const;
tool(spec) satisfies Tool<{ a: unknown }>;
spec satisfies ToolDefinition;
tool({
  name: "show",
  description: "Shows",
  parameters: { type: "object", properties: { a: { type: "number" } } },
  // @ts-expect-error: not an argument
  execute: ({ a, b }) => [a satisfies number | undefined, b],
});

// What the compiler cannot know is what the handler says.
export function later(inputSchema: JsonSchema, loose: { type: string; properties: object }): Tool[] {
  return [
    tool({ name: "a", description: "b", inputSchema, execute: (args) => args.whatever.it.is }),
    tool({ name: "a", description: "b", inputSchema, execute: ({ path }: { path: string }) => path }),
    tool({ name: "a", description: "b", inputSchema: loose, execute: ({ path }: { path: string }) => path }),
    tool({ name: "a", description: "b", execute: ({ path }: { path: string }) => path }),
    tool(openFile),
    tool({ ...openFile, execute: () => ({ opened: false }) }),
  ];
}
tool({
  name: "a",
  description: "b",
  inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  // @ts-expect-error: the schema says otherwise
  execute: ({ path }: { path: number }) => path,
});

// Handlers may be sync, async, or missing.
((args: { a: number }) => args.a) satisfies Handler<{ a: number }>;
(async () => {}) satisfies Handler;
tool({ name: "a", description: "b" }).execute satisfies Handler | undefined;

// @ts-expect-error: the description is what the model reads
tool({ name: "a" });
// @ts-expect-error: milliseconds
tool({ name: "a", description: "b", timeout: "30s" });
// @ts-expect-error: no such moment
tool({ name: "a", description: "b", runOn: "approval" });
// @ts-expect-error: it is called execute
tool({ name: "a", description: "b", handler() {} });
// @ts-expect-error: no such hint
tool({ name: "a", description: "b", annotations: { safe: true } });
// @ts-expect-error: a schema is an object
tool({ name: "a", description: "b", inputSchema: true });
