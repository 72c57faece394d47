// What `cargo xtask bench` tells.

/** @param {string} name */
function told(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run "cargo xtask bench"`);
  return value;
}

/** The package, as it ships. */
export const pkg = told("PAGEHAND_PKG");
/** Its scripts before they became one: the engine's is among them. */
export const scripts = told("PAGEHAND_SCRIPTS");
/** The stand-in for the agent servers, as a release. */
export const mockServer = told("PAGEHAND_MOCK_SERVER");
export const chromium = told("PAGEHAND_CHROMIUM");
/** The recordings of real servers. */
export const fixtures = told("PAGEHAND_FIXTURES");
