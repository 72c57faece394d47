// Schemas of libraries. What a handler gets is what the library makes of the arguments.
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { tool, type Arguments, type StandardSchema, type Tool } from "pagehand";
import * as v from "valibot";
import * as z from "zod";
import { exactly } from "./exactly.ts";

const about = { name: "a", description: "b" };

// Ours is the interface of the specification.
declare const ours: StandardSchema<string, number>;
declare const theirs: StandardSchemaV1<string, number>;
declare const both: StandardSchemaV1<string, number> & StandardJSONSchemaV1<string, number>;
ours satisfies StandardSchemaV1<string, number>;
theirs satisfies StandardSchema<string, number>;
both satisfies StandardSchema<string, number>;
exactly<number>()(null! as Arguments<typeof theirs>);

// ---------------------------------------------------------------- zod

const task = z.object({ title: z.string(), column: z.enum(["todo", "doing"]).default("todo"), due: z.iso.date().transform((text) => new Date(text)).optional() });
const moved = tool({
  ...about,
  inputSchema: task,
  outputSchema: z.object({ id: z.number(), labels: z.array(z.string()) }),
  confirm({ column, due }) {
    exactly<"todo" | "doing" | undefined>()(column);
    exactly<string | undefined>()(due);
    return false;
  },
  async execute({ title, column, due }) {
    exactly<string>()(title);
    exactly<"todo" | "doing">()(column);
    exactly<Date | undefined>()(due);
    return { id: 1, labels: ["x"] };
  },
});
moved satisfies Tool<z.output<typeof task>>;
moved.inputSchema satisfies { readonly [keyword: string]: unknown };
tool({
  ...about,
  inputSchema: task,
  // @ts-expect-error: not an argument
  execute: ({ colum }) => colum,
});
// @ts-expect-error: labels are texts
tool({ ...about, outputSchema: z.object({ labels: z.array(z.string()) }), execute: () => ({ labels: [1] }) });
tool({ ...about, parameters: task, execute: ({ title }) => title satisfies string });

// ---------------------------------------------------------------- Valibot

const place = v.object({ x: v.number(), y: v.optional(v.number(), 0), tags: v.array(v.picklist(["a", "b"])) });
tool({
  ...about,
  inputSchema: toStandardJsonSchema(place),
  outputSchema: toStandardJsonSchema(v.object({ state: v.literal("moved") })),
  execute(args) {
    exactly<{ x: number; y: number; tags: ("a" | "b")[] }>()(args);
    return { state: "moved" };
  },
});
tool({
  ...about,
  inputSchema: { schema: place, jsonSchema: { type: "object", properties: { x: { type: "number" } } } },
  confirm: ({ y }) => (y satisfies number | undefined) === 0,
  execute: (args) => exactly<{ x: number; y: number; tags: ("a" | "b")[] }>()(args),
});
// @ts-expect-error: no such tag
tool({ ...about, outputSchema: { schema: place, jsonSchema: {} }, execute: () => ({ x: 1, tags: ["c"] }) });
