// Whether a value has a type: this one, not one that it could be assigned to.
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

export declare function exactly<Expected>(): <Given>(value: Given, ...differs: Same<Expected, Given> extends true ? [] : [never]) => void;

exactly<string | number>()(null! as string | number);
// @ts-expect-error: narrower
exactly<string | number>()(null! as string);
// @ts-expect-error: anything
exactly<string>()(null! as any);
// @ts-expect-error: may be missing
exactly<{ a: string | undefined }>()(null! as { a?: string });
