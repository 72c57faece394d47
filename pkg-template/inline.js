// @ts-check
// The entry `pagehand/inline`: the same names, for where no file can lie beside the script. In a release it is a bundle of its own,
// with the wasm as text in the place of its address (xtask/src/build/bundle.js).

export * from "./index.js";
