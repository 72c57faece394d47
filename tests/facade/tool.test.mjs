// tool(): what is wrong with a definition is said at once, with the field and the rule.
import assert from "node:assert/strict";
import { test } from "node:test";
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
  for (const timeout of [0, -1, 0.5, NaN, Infinity, 2 ** 31, "1000", null]) {
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

test("a tool is what its definition was", () => {
  const inputSchema = { type: "object", properties: { path: { type: "string" } } };
  const made = tool({ ...good, inputSchema });
  inputSchema.properties.path.type = "number";
  assert.equal(made.inputSchema.properties.path.type, "string");
  assert.throws(() => (made.inputSchema.properties.path.type = "number"), TypeError);
  assert.equal(tool(made).inputSchema.properties.path.type, "string");
});
