// What schemas say about values, as types. Nothing of this exists at run time.
//
// `ToolSchema` is what may stand for a schema; `Arguments`, `Given` and `Result` are what follows from one. A JSON Schema is
// read as far as types can say it: `type`, `enum`, `const`, `properties`, `required`, `additionalProperties`, `items`,
// `prefixItems`, `anyOf`, `oneOf`, `allOf`, and `$ref` within the document. Every other keyword narrows at run time only.

/** A JSON Schema whose top `type` is `"object"`. It travels to the server untouched. */
export type JsonSchema = { readonly [key: string]: unknown };

/**
 * A schema of a library that implements Standard Schema (https://standardschema.dev): zod, Valibot, ArkType and others.
 * This is the interface of its version 1, as the specification wants it to be copied.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    /** Standard JSON Schema, where the library has it. */
    readonly jsonSchema?: { readonly input: (options: { readonly target: "draft-2020-12" }) => { [key: string]: unknown } } | undefined;
  };
}
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined }[] };

/** A Standard Schema of a library that cannot say it as JSON Schema, with the JSON Schema beside it. */
export interface SchemaPair<Schema extends StandardSchema = StandardSchema> {
  readonly schema: Schema;
  readonly jsonSchema: JsonSchema;
}

/** What may stand for a schema in a tool's definition. */
export type ToolSchema = JsonSchema | StandardSchema | SchemaPair;

/** What a handler gets. `any` where the schema is known at run time only. */
export type Arguments<Schema> = Types<Schema> extends { output: infer Output } ? Output : FromJsonSchema<Schema>;

/** What an agent gives: for a Standard Schema, what it is before defaults and transformations. */
export type Given<Schema> = Types<Schema> extends { input: infer Input } ? Input : FromJsonSchema<Schema>;

/** What a handler may return. */
export type Result<Schema> = IsAny<Schema> extends true ? unknown : ReadOnly<Given<Schema>>;

/** The value that a JSON Schema is about. */
export type FromJsonSchema<Schema> = IsAny<Schema> extends true ? any : Value<Schema, Schema>;

// ---------------------------------------------------------------- Standard Schema

type Types<Schema> =
  IsAny<Schema> extends true ? undefined
  : Schema extends StandardSchema ? NonNullable<Schema["~standard"]["types"]>
  : Schema extends SchemaPair<infer Standard> ? NonNullable<Standard["~standard"]["types"]>
  : undefined;

// ---------------------------------------------------------------- JSON Schema

type IsAny<T> = 0 extends 1 & T ? true : false;

/** `Root` is the document that a `$ref` points into. */
type Value<Schema, Root> =
  Schema extends boolean ? (Schema extends false ? never : unknown)
  : string extends keyof Schema ? any
  : Typed<Schema, Root> & Listed<Schema> & Referred<Schema, Root> & AnyOf<Schema, Root> & AllOf<Schema, Root>;

type Typed<Schema, Root> =
  Schema extends { readonly type: infer Type }
    ? Type extends readonly (infer One)[] ? OfType<One, Schema, Root> : OfType<Type, Schema, Root>
    // Branches of a `oneOf` often leave out what the schema around them says.
    : Schema extends { readonly properties: unknown } ? ObjectOf<Schema, Root>
    : Schema extends { readonly required: unknown } ? { [Name in RequiredName<Schema>]: unknown }
    : unknown;

type OfType<Type, Schema, Root> =
  Type extends "string" ? string
  : Type extends "number" | "integer" ? number
  : Type extends "boolean" ? boolean
  : Type extends "null" ? null
  : Type extends "array" ? ArrayOf<Schema, Root>
  : Type extends "object" ? ObjectOf<Schema, Root>
  // A text that the compiler does not know.
  : any;

type Listed<Schema> =
  Schema extends { readonly const: infer Constant } ? Writable<Constant>
  : Schema extends { readonly enum: readonly (infer One)[] } ? Writable<One>
  : unknown;

type ReadOnly<T> = T extends object ? { readonly [Key in keyof T]: ReadOnly<T[Key]> } : T;
type Writable<T> = T extends object ? { -readonly [Key in keyof T]: Writable<T[Key]> } : T;

type AnyOf<Schema, Root> =
  & (Schema extends { readonly anyOf: readonly (infer Branch)[] } ? OneOf<Branch, Root> : unknown)
  & (Schema extends { readonly oneOf: readonly (infer Branch)[] } ? OneOf<Branch, Root> : unknown);
type OneOf<Branch, Root> = Branch extends unknown ? Value<Branch, Root> : never;

type AllOf<Schema, Root> = Schema extends { readonly allOf: infer Parts } ? Every<Parts, Root> : unknown;
type Every<Parts, Root> = Parts extends readonly [infer First, ...infer Rest] ? Value<First, Root> & Every<Rest, Root> : unknown;

// Objects. Without declared properties, or with further ones, the rest is `any`, as `JSON.parse` gives it.

type ObjectOf<Schema, Root> =
  Schema extends { readonly properties: infer Properties }
    ? Flat<
        & { -readonly [Name in keyof Properties as Name extends RequiredName<Schema> ? Name : never]: Value<Properties[Name], Root> }
        & { -readonly [Name in keyof Properties as Name extends RequiredName<Schema> ? never : Name]?: Value<Properties[Name], Root> }
        & { [Name in Exclude<RequiredName<Schema>, keyof Properties>]: unknown }
      > & Further<Schema>
    : Flat<{ [Name in RequiredName<Schema>]: unknown } & Entries<Schema, Root>>;

type RequiredName<Schema> = Schema extends { readonly required: readonly (infer Name extends string)[] } ? Name : never;

type Further<Schema> =
  Schema extends { readonly additionalProperties: true | object } | { readonly patternProperties: object } ? { [name: string]: any } : unknown;

type Entries<Schema, Root> =
  Schema extends { readonly patternProperties: object } ? { [name: string]: any }
  : Schema extends { readonly additionalProperties: infer Each } ? { [name: string]: Each extends true ? any : Value<Each, Root> }
  : { [name: string]: any };

/** One object type instead of several, for people to read. */
type Flat<T> = T extends infer Whole ? { [Key in keyof Whole]: Whole[Key] } : never;

// Arrays. What a tuple may lack is optional.

type ArrayOf<Schema, Root> =
  Schema extends { readonly prefixItems: infer Places extends readonly unknown[] } ? TupleOf<Places, Schema, "items", Root>
  : Schema extends { readonly items: infer Places extends readonly unknown[] } ? TupleOf<Places, Schema, "additionalItems", Root>
  : Schema extends { readonly items: infer Item } ? Value<Item, Root>[]
  : unknown[];

type TupleOf<Places extends readonly unknown[], Schema, More extends string, Root> = [
  ...(Schema extends { readonly minItems: Places["length"] } ? Each<Places, Root> : Partial<Each<Places, Root>>),
  ...(Schema extends { readonly [Key in More]: infer Rest } ? Rest extends false ? [] : Value<Rest, Root>[] : unknown[]),
];
type Each<Places extends readonly unknown[], Root> = { -readonly [Place in keyof Places]: Value<Places[Place], Root> };

// References.

type Referred<Schema, Root> =
  Schema extends { readonly $ref: infer Pointer }
    ? Pointer extends "#" ? Value<Root, Root> : Pointer extends `#/${infer Path}` ? Value<At<Path, Root>, Root> : unknown
    : unknown;

/** What lies there; `true`, which lets everything through, if nothing does. */
type At<Path extends string, Schema> =
  Path extends `${infer Step}/${infer Rest}`
    ? Step extends keyof Schema ? At<Rest, Schema[Step]> : true
    : Path extends keyof Schema ? Schema[Path] : true;
