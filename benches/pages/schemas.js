// Compiles schemas of tools and checks arguments, in one of several ways. All start from JSON text, as arguments come.

/** Milliseconds: the first are for the engine to optimise what it runs. */
const [WARM, TIMED] = [400, 600];
/** Rounds between two looks at the clock, which is too coarse for one. */
const BATCH = 20;

const text = (minLength, maxLength) => ({ type: "string", minLength, maxLength });

const small = {
  type: "object",
  properties: { title: text(1, 200), column: { enum: ["todo", "doing", "done"] }, due: { type: "string", pattern: "^\\d{4}-\\d{2}-\\d{2}$" } },
  required: ["title"],
  additionalProperties: false,
};

const person = { type: "object", properties: { id: { type: "integer", minimum: 1 }, name: text(1, 80), role: { enum: ["owner", "member", "guest"] } }, required: ["id", "name"] };
const large = {
  type: "object",
  $defs: { person, money: { type: "object", properties: { amount: { type: "number", minimum: 0 }, currency: { type: "string", pattern: "^[A-Z]{3}$" } }, required: ["amount", "currency"] } },
  properties: {
    title: text(1, 200),
    people: { type: "array", items: { $ref: "#/$defs/person" }, minItems: 1, maxItems: 100 },
    budget: { $ref: "#/$defs/money" },
    labels: { type: "array", items: text(1, 40), uniqueItems: true },
    steps: {
      type: "array",
      items: {
        type: "object",
        properties: { text: text(1, 500), done: { type: "boolean" }, cost: { $ref: "#/$defs/money" }, assignee: { $ref: "#/$defs/person" } },
        required: ["text", "done"],
        additionalProperties: false,
      },
    },
    ...Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`field${at}`, at % 2 ? { type: "integer", maximum: 1_000 } : text(0, 100)])),
  },
  required: ["title", "people"],
};

/** What is dear: alternatives that nearly match, references to itself, conditions. */
const nasty = {
  $defs: {
    node: {
      type: "object",
      properties: { value: { anyOf: [{ type: "integer", multipleOf: 7 }, { type: "string", pattern: "^(a|b)+c$" }, { type: "null" }] }, children: { type: "array", items: { $ref: "#/$defs/node" } } },
      required: ["value"],
      unevaluatedProperties: false,
    },
    shape: {
      oneOf: Array.from({ length: 8 }, (_, at) => ({
        type: "object",
        properties: { kind: { const: `kind${at}` }, size: { type: "integer", minimum: at } },
        required: ["kind", "size"],
      })),
    },
  },
  type: "object",
  properties: { tree: { $ref: "#/$defs/node" }, shapes: { type: "array", items: { $ref: "#/$defs/shape" }, uniqueItems: true } },
  if: { required: ["shapes"] },
  then: { properties: { shapes: { minItems: 1, contains: { properties: { kind: { const: "kind7" } } } } } },
  required: ["tree"],
};

const tree = (depth) => ({ value: depth % 2 ? 7 * depth : "abac", children: depth === 0 ? [] : [tree(depth - 1), tree(depth - 1)] });
const somebody = (id) => ({ id, name: `Person ${id}`, role: "member" });

const SCHEMAS = {
  small: [small, [{ title: "Write it down", column: "doing", due: "2026-01-31" }]],
  "small, invalid arguments": [small, [{ title: "", column: "later" }]],
  large: [
    large,
    [
      {
        title: "A plan",
        people: Array.from({ length: 20 }, (_, at) => somebody(at + 1)),
        budget: { amount: 12.5, currency: "EUR" },
        labels: Array.from({ length: 20 }, (_, at) => `label ${at}`),
        steps: Array.from({ length: 30 }, (_, at) => ({ text: `Step ${at}`, done: at % 2 === 0, cost: { amount: at, currency: "CHF" }, assignee: somebody(at + 1) })),
        ...Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`field${at}`, at % 2 ? at : `text ${at}`])),
      },
    ],
  ],
  nasty: [nasty, [{ tree: tree(5), shapes: Array.from({ length: 16 }, (_, at) => ({ kind: `kind${at % 8}`, size: at + 8 })) }]],
};

/** Each compiles the text of a schema to what takes the text of arguments and says whether they are valid. */
const VALIDATORS = {
  async pagehand() {
    // The engine as the package has it: what its facade calls.
    const { default: load, Engine } = await import("/scripts/schema.js");
    await load({ module_or_path: "/pkg/schema.wasm" });
    const engine = new Engine();
    return (schema) => {
      const id = engine.compile(schema);
      return (instance) => JSON.parse(engine.check(id, instance, false)).valid;
    };
  },
  async ajv() {
    const { Ajv } = await import("/peers/ajv.js");
    return (schema) => {
      const check = new Ajv({ allErrors: true }).compile(JSON.parse(schema));
      return (instance) => check(JSON.parse(instance));
    };
  },
  async cfworker() {
    const { Validator } = await import("/peers/cfworker.js");
    return (schema) => {
      const validator = new Validator(JSON.parse(schema), "2020-12", false);
      return (instance) => validator.validate(JSON.parse(instance)).valid;
    };
  },
};

/** @param {keyof typeof VALIDATORS} name @returns {Promise<Record<string, { compile: number, check: number }>>} microseconds */
export async function measure(name) {
  const compile = await VALIDATORS[name]();
  return Object.fromEntries(Object.entries(SCHEMAS).map(([title, [schema, instances]]) => {
    const [text, texts] = [JSON.stringify(schema), instances.map((instance) => JSON.stringify(instance))];
    const check = compile(text);
    const valid = texts.map((instance) => check(instance));
    if (valid.includes(title.includes("invalid"))) throw new Error(`${name} finds ${title} ${valid}`);
    return [title, { compile: time(() => compile(text)), check: time(() => texts.forEach(check)) / texts.length }];
  }));
}

/** The median of what it takes, in microseconds. @param {() => void} work */
function time(work) {
  const times = [];
  for (const begin = performance.now(), end = begin + WARM + TIMED; performance.now() < end; ) {
    const start = performance.now();
    for (let round = 0; round < BATCH; round += 1) work();
    if (start > begin + WARM) times.push((performance.now() - start) / BATCH);
  }
  times.sort((a, b) => a - b);
  return times[times.length >> 1] * 1_000;
}
