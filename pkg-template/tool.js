// @ts-check
/** @import { CallContext, Json, Tool, ToolDefinition } from "./types.js" */
/** @import { Validate } from "./validators.js" */
import { isObject } from "./checks.js";
import { PagehandError, invalidArgument } from "./errors.js";
import { remember, schemaOf, transforming, validatorOf } from "./standard.js";

/** @typedef {(args: any, context: CallContext) => unknown} Execute */
/** @import { Confirm } from "./guards.js" */
/**
 * `fields` are the core's. What a tool has no validator for is the schema engine's.
 * @typedef {object} Declared
 * @property {string} name
 * @property {object} fields
 * @property {Execute | undefined} execute
 * @property {Confirm} confirm
 * @property {{ input: Validate | undefined, output: Validate | undefined }} validators
 */

const FIELDS = [
  "name", "description", "inputSchema", "parameters", "outputSchema", "annotations", "timeout", "runOn", "confirm", "versioned", "execute",
];
const LONGEST_TIMEOUT = 2 ** 31 - 1;

/**
 * What a checked tool is to the rest of the facade.
 * @type {WeakMap<object, Declared>}
 */
const declared = new WeakMap();

/**
 * Checks the shape of a definition, and keeps it: later changes to the object change nothing. The rules about names and
 * schemas are checked when the tool is declared to a conversation.
 *
 * @param {ToolDefinition} definition
 * @returns {Tool}
 */
export function tool(definition) {
  if (!isObject(definition)) throw invalidArgument("tool", "must be an object with a name and a description");
  /** @type {Record<string, unknown>} */
  const given = definition;
  const name = typeof given.name === "string" ? given.name : "";
  /** @param {string} field @param {string} rule @param {string} message @param {unknown} [cause] */
  const fault = (field, rule, message, cause) =>
    new PagehandError("invalid_tool", `tool ${JSON.stringify(name)}: ${field}: ${message}`, {
      details: { tool: name, field, rule, message },
      cause,
    });

  /** @param {string} field @param {unknown} value @returns {any} */
  const copy = (field, value) => {
    try {
      return value === undefined || value === null ? undefined : deepFreeze(JSON.parse(JSON.stringify(value)));
    } catch (cause) {
      throw fault(field, "json", "must be something that JSON can carry", cause);
    }
  };
  /** @param {string} field @param {unknown} value */
  const schema = (field, value) => {
    let read;
    try {
      read = schemaOf(value);
    } catch (cause) {
      throw fault(field, "json_schema", `${cause instanceof Error ? cause.message : cause}; give { schema, jsonSchema }`, cause);
    }
    if (!isObject(read.jsonSchema)) throw fault(field, "schema_object", "must be a JSON Schema object or a Standard Schema");
    return remember(copy(field, read.jsonSchema), read.standard);
  };

  for (const field of Object.keys(given)) {
    if (!FIELDS.includes(field)) throw fault(field, "unknown_field", `not a field of a tool; ${FIELDS.join(", ")} are`);
  }
  if (name === "") throw fault("name", "name_pattern", "must be a string that is not empty");
  const { description, annotations, timeout, runOn, confirm, versioned, execute, outputSchema } = given;
  if (typeof description !== "string") {
    throw fault("description", "description_required", "must be a string: the model decides on a call by it");
  }
  if (given.inputSchema !== undefined && given.parameters !== undefined) {
    throw fault("parameters", "one_schema", "is another name of inputSchema; give one of them");
  }
  const inputField = given.parameters === undefined ? "inputSchema" : "parameters";
  // The server spells absent annotations as null.
  if (annotations !== undefined && annotations !== null && !isObject(annotations)) {
    throw fault("annotations", "annotation_type", "must be an object of hints");
  }
  if (timeout !== undefined && !(typeof timeout === "number" && timeout >= 1 && timeout <= LONGEST_TIMEOUT)) {
    throw fault("timeout", "timeout_milliseconds", `must be a number of milliseconds, 1 to ${LONGEST_TIMEOUT}`);
  }
  if (runOn !== undefined && runOn !== "acknowledgement" && runOn !== "announcement") {
    throw fault("runOn", "run_on", 'must be "acknowledgement" or "announcement"');
  }
  if (confirm !== undefined && typeof confirm !== "boolean" && typeof confirm !== "function") {
    throw fault("confirm", "confirm", "must be true, false, or a function of the arguments");
  }
  if (versioned !== undefined && typeof versioned !== "boolean") throw fault("versioned", "versioned", "must be true or false");
  if (execute !== undefined && typeof execute !== "function") {
    throw fault("execute", "execute_function", "must be a function, or be left out");
  }

  const input = schema(inputField, given[inputField] ?? { type: "object", properties: {} });
  const output = outputSchema === undefined ? undefined : schema("outputSchema", outputSchema);
  const kept = {
    name,
    description,
    inputSchema: input.jsonSchema,
    outputSchema: output?.jsonSchema,
    annotations: copy("annotations", annotations),
    timeout,
    runOn,
    versioned,
  };
  const checked = withoutAbsent({ ...kept, confirm, execute });
  const validators = { input: validatorOf(input.standard), output: validatorOf(output?.standard) };
  // `this` in a method is the object that the method was given in.
  const bound = /** @type {Execute | undefined} */ (execute?.bind(definition));
  declared.set(checked, {
    name,
    fields: {
      ...kept,
      hasHandler: execute !== undefined,
      inputValidated: validators.input !== undefined,
      outputValidated: validators.output !== undefined,
    },
    confirm: /** @type {Confirm} */ (typeof confirm === "function" ? confirm.bind(definition) : confirm),
    execute: transforming(input.standard, bound),
    validators,
  });
  return Object.freeze(checked);
}

/**
 * A tool or a definition, as declared.
 * @param {unknown} given
 * @returns {Declared}
 */
export function declaredTool(given) {
  const known = isObject(given) ? declared.get(given) : undefined;
  // For another conversation with the same tools.
  if (known !== undefined) declared.set(known, known);
  return known ?? declaredTool(tool(/** @type {ToolDefinition} */ (given)));
}

/**
 * @param {unknown} given
 * @returns {Declared[]}
 */
export function declaredTools(given) {
  if (given === undefined) return [];
  if (!Array.isArray(given)) throw invalidArgument("tools", "must be an array of tools");
  return given.map(declaredTool);
}

/**
 * @template {object} T
 * @param {T} fields
 * @returns {any}
 */
function withoutAbsent(fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/**
 * Freezes what `JSON.parse` gave. `JSON.stringify` has walked it before, so its depth is bearable.
 * @param {Json} value
 */
function deepFreeze(value) {
  if (typeof value === "object" && value !== null) {
    Object.values(value).forEach(deepFreeze);
    Object.freeze(value);
  }
  return value;
}
