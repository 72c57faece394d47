// What a handler's arguments and result are follows from the JSON Schemas, without `as const`.
import { tool, type FromJsonSchema } from "pagehand";
import { exactly } from "./exactly.ts";

const of = <const Schema>(_: Schema): FromJsonSchema<Schema> => null!;
const about = { name: "a", description: "b" };

// ---------------------------------------------------------------- one keyword at a time

exactly<string>()(of({ type: "string", minLength: 1 }));
exactly<number>()(of({ type: "integer" }));
exactly<boolean | null>()(of({ type: ["boolean", "null"] }));
exactly<"todo" | "doing" | null>()(of({ enum: ["todo", "doing", null] }));
exactly<"todo" | "doing">()(of({ type: "string", enum: ["todo", "doing"] }));
exactly<{ a: [1, "x"] }>()(of({ const: { a: [1, "x"] } }));
exactly<unknown>()(of({}));
exactly<unknown>()(of({ title: "Anything" }));
exactly<unknown>()(of(true));
exactly<never>()(of(false));

exactly<{ title: string; column?: "todo" | "doing" | undefined }>()(
  of({ type: "object", properties: { title: { type: "string" }, column: { enum: ["todo", "doing"] } }, required: ["title"] }),
);
exactly<{ a: unknown }>()(of({ type: "object", properties: {}, required: ["a"] }));
exactly<{ a?: { b: { c?: number | undefined } } | undefined }>()(
  of({
    type: "object",
    properties: { a: { type: "object", properties: { b: { type: "object", properties: { c: { type: "number" } } } }, required: ["b"] } },
  }),
);
exactly<{ [name: string]: any }>()(of({ type: "object" }));
exactly<{ [name: string]: number }>()(of({ type: "object", additionalProperties: { type: "number" } }));
of({ type: "object", properties: { a: { type: "string" } }, additionalProperties: true }).more satisfies string;
// @ts-expect-error: what is not declared is most likely a slip
of({ type: "object", properties: { a: { type: "string" } } }).more;

exactly<string[][]>()(of({ type: "array", items: { type: "array", items: { type: "string" } } }));
exactly<{ id: number }[]>()(of({ type: "array", items: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] } }));
exactly<unknown[]>()(of({ type: "array" }));
exactly<[string, number]>()(of({ type: "array", prefixItems: [{ type: "string" }, { type: "number" }], minItems: 2, items: false }));
exactly<[string?, ...boolean[]]>()(of({ type: "array", items: [{ type: "string" }], additionalItems: { type: "boolean" } }));

exactly<string | string[]>()(of({ anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] }));
exactly<{ a: string } & { b: number }>()(
  of({
    allOf: [
      { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
      { type: "object", properties: { b: { type: "number" } }, required: ["b"] },
    ],
  }),
);

exactly<{ from: { x: number }; to?: { x: number } | undefined }>()(
  of({
    type: "object",
    $defs: { point: { type: "object", properties: { x: { type: "number" } }, required: ["x"] } },
    properties: { from: { $ref: "#/$defs/point" }, to: { $ref: "#/$defs/point" } },
    required: ["from"],
  }),
);
exactly<{ a?: unknown }>()(of({ type: "object", properties: { a: { $ref: "#/$defs/nowhere" } } }));
exactly<{ a?: unknown }>()(of({ type: "object", properties: { a: { $ref: "https://example.com/schema" } } }));

// ---------------------------------------------------------------- in a tool

// A schema that contains itself.
tool({
  ...about,
  inputSchema: { type: "object", properties: { name: { type: "string" }, children: { type: "array", items: { $ref: "#" } } }, required: ["name"] },
  execute({ children }) {
    exactly<string | undefined>()(children?.[0]?.children?.[0]?.children?.[0]?.name);
    // @ts-expect-error: not there either
    children?.[0]?.children?.[0]?.nam;
  },
});

// The branches of a `oneOf` are told apart by a constant.
tool({
  ...about,
  inputSchema: {
    type: "object",
    oneOf: [
      { properties: { kind: { const: "move" }, to: { type: "string" } }, required: ["kind", "to"] },
      { properties: { kind: { const: "remove" }, force: { type: "boolean" } }, required: ["kind"] },
    ],
  },
  execute(args) {
    if (args.kind === "move") exactly<string>()(args.to);
    else exactly<boolean | undefined>()(args.force);
  },
});

// Branches that only require.
tool({
  ...about,
  inputSchema: {
    type: "object",
    properties: { id: { type: "integer" }, title: { type: "string" } },
    anyOf: [{ required: ["id"] }, { required: ["title"] }],
  },
  execute(args) {
    exactly<number | undefined>()(args.id);
    // @ts-expect-error: not declared
    args.name;
  },
});

// The result.
const column = { type: "object", properties: { name: { enum: ["todo", "done"] }, size: { type: "integer" } }, required: ["name"] } as const;
tool({ ...about, outputSchema: column, execute: () => ({ name: "todo" }) });
tool({ ...about, outputSchema: column, execute: async () => ({ name: "done", size: 3 }) });
// @ts-expect-error: no such column
tool({ ...about, outputSchema: column, execute: () => ({ name: "doing" }) });
// @ts-expect-error: the name is missing
tool({ ...about, outputSchema: column, execute: async () => ({ size: 3 }) });
// @ts-expect-error: no object
tool({ ...about, outputSchema: column, execute: () => {} });
tool({ ...about, outputSchema: { type: "null" }, execute: () => null });

interface Task { id: number; title: string }
declare const task: Task;
tool({ ...about, outputSchema: { type: "object" }, execute: () => task });
tool({ ...about, outputSchema: { type: "array", items: { type: "object", properties: { id: { type: "integer" } } } }, execute: () => [task] });
// @ts-expect-error: tasks have no names
tool({ ...about, outputSchema: column, execute: () => task });
