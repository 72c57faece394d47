// Declaring tools.
import { tool, type Handler, type Tool, type ToolDefinition } from "pagehand";

interface File { path: string; line?: number }

const openFile = tool<File>({
  name: "open_file",
  description: "Opens a file",
  inputSchema: { type: "object", properties: { path: { type: "string" }, line: { type: "integer" } }, required: ["path"] },
  outputSchema: { type: "object" },
  annotations: { title: "Open", readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  timeout: 30_000,
  runOn: "acknowledgement",
  async execute(args, { signal, callId, conversation }) {
    args.path satisfies string;
    args.line satisfies number | undefined;
    signal satisfies AbortSignal;
    callId satisfies string;
    await conversation.send("opened");
    // @ts-expect-error: not an argument
    args.column;
  },
});
openFile satisfies Tool<File>;
openFile.inputSchema satisfies object;
// @ts-expect-error: frozen
openFile.timeout = 5;

// A ClientToolSpec is a definition, and `as const` is no obstacle.
const spec = { name: "show", description: "Shows", parameters: { type: "object", required: ["a"] }, annotations: null } as const;
tool(spec);
spec satisfies ToolDefinition;

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
