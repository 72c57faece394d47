// tool(): what is wrong with a definition is said at once, with the field and the rule.
import assert from "node:assert/strict";
import { test } from "node:test";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import * as z from "zod";
import { load } from "./help.mjs";

const { tool, PagehandError } = await load("index.js");

const good = { name: "open_file", description: "Opens a file" };

function fault(definition) {
  try {
    tool(definition);
  } catch (error) {
    assert.ok(PagehandError.isInstance(error), String(error));
    return error;
  }
  throw new Error("it was accepted");
}

test("every broken rule names its field", () => {
  const cyclic = {};
  cyclic.self = cyclic;
  for (const [change, field, rule] of [
    [{ name: undefined }, "name", "name_pattern"],
    [{ name: "" }, "name", "name_pattern"],
    [{ name: 5 }, "name", "name_pattern"],
    [{ description: undefined }, "description", "description_required"],
    [{ description: ["x"] }, "description", "description_required"],
    [{ inputSchema: "string" }, "inputSchema", "schema_object"],
    [{ inputSchema: [] }, "inputSchema", "schema_object"],
    [{ inputSchema: cyclic }, "inputSchema", "json"],
    [{ parameters: true }, "parameters", "schema_object"],
    [{ parameters: {}, inputSchema: {} }, "parameters", "one_schema"],
    [{ outputSchema: null }, "outputSchema", "schema_object"],
    [{ outputSchema: { const: 1n } }, "outputSchema", "json"],
    [{ annotations: "readOnly" }, "annotations", "annotation_type"],
    [{ runOn: "now" }, "runOn", "run_on"],
    [{ execute: "alert(1)" }, "execute", "execute_function"],
    [{ handler() {} }, "handler", "unknown_field"],
    [{ excecute() {} }, "excecute", "unknown_field"],
  ]) {
    const error = fault({ ...good, ...change });
    assert.equal(error.code, "invalid_tool");
    assert.equal(error.details.field, field);
    assert.equal(error.details.rule, rule);
    assert.equal(error.details.tool, typeof { ...good, ...change }.name === "string" ? { ...good, ...change }.name : "");
    assert.ok(error.message.includes(`${field}: `), error.message);
  }
});

test("case_12_a_timeout_that_is_none_is_refused_and_the_unit_is_named", () => {
  for (const timeout of [0, -1, 0.5, NaN, Infinity, 2 ** 31, "1000", 5n, null]) {
    const error = fault({ ...good, timeout });
    assert.equal(error.details.field, "timeout");
    assert.match(error.message, /milliseconds/);
  }
  assert.equal(tool({ ...good, timeout: 30_000 }).timeout, 30_000);
});

test("what is no object is no tool", () => {
  for (const definition of [undefined, null, "open_file", [], () => {}]) {
    assert.equal(fault(definition).code, "invalid_argument");
  }
});

test("a ClientToolSpec is a definition", () => {
  const parameters = { type: "object", properties: { path: { type: "string" } } };
  const made = tool({ ...good, parameters, annotations: null });
  assert.deepEqual(made.inputSchema, parameters);
  assert.deepEqual(Object.keys(made), ["name", "description", "inputSchema"]);
});

/** A schema of a library, as Standard Schema has it. */
const standard = (jsonSchema, form = {}) =>
  Object.assign(form, { "~standard": { version: 1, vendor: "acme", validate: (value) => ({ value }), jsonSchema } });

test("a schema of a library is declared as the JSON Schema that the library gives", () => {
  const schema = { type: "object", properties: { path: { type: "string" } } };
  const asked = [];
  const given = standard({ input: (options) => (asked.push(options), schema), output: () => assert.fail("the agent writes the input") });
  const made = tool({ ...good, inputSchema: given, outputSchema: given });
  assert.deepEqual([made.inputSchema, made.outputSchema], [schema, schema]);
  assert.deepEqual(asked, Array(2).fill({ target: "draft-2020-12" }));
  // ArkType's schemas are functions.
  assert.deepEqual(tool({ ...good, parameters: standard({ input: () => schema }, () => {}) }).inputSchema, schema);
  assert.deepEqual(tool({ ...good, inputSchema: z.object({ path: z.string() }) }).inputSchema.required, ["path"]);
  assert.deepEqual(tool({ ...good, inputSchema: toStandardJsonSchema(v.object({ path: v.string() })) }).inputSchema.required, ["path"]);
});

test("a library without JSON Schema needs one beside it", () => {
  const schema = { type: "object", properties: { path: { type: "string" } } };
  assert.deepEqual(tool({ ...good, inputSchema: { schema: v.object({ path: v.string() }), jsonSchema: schema } }).inputSchema, schema);
  for (const [change, field, rule] of [
    [{ inputSchema: v.object({ path: v.string() }) }, "inputSchema", "json_schema"],
    [{ parameters: z.object({ at: z.date() }) }, "parameters", "json_schema"],
    [{ outputSchema: z.bigint() }, "outputSchema", "json_schema"],
    [{ inputSchema: { schema: v.object({}) } }, "inputSchema", "schema_object"],
    [{ inputSchema: standard({ input: () => "object" }) }, "inputSchema", "schema_object"],
  ]) {
    const { code, details, message } = fault({ ...good, ...change });
    assert.deepEqual([code, details.field, details.rule], ["invalid_tool", field, rule]);
    if (rule === "json_schema") assert.match(message, /give \{ schema, jsonSchema \}/);
  }
});

test("a tool is what its definition was", () => {
  const inputSchema = { type: "object", properties: { path: { type: "string" } } };
  const made = tool({ ...good, inputSchema });
  inputSchema.properties.path.type = "number";
  assert.equal(made.inputSchema.properties.path.type, "string");
  assert.throws(() => (made.inputSchema.properties.path.type = "number"), TypeError);
  assert.equal(tool(made).inputSchema.properties.path.type, "string");
});
