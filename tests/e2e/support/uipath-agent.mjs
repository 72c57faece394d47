// UiPath's full agent behind the stand-in for its service, and the model that it thinks with.
import { Child, freePort } from "./process.mjs";
import { startService } from "./uipath.mjs";

/** @param {string} name */
function told(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run these tests with "cargo xtask test --full"`);
  return value;
}

/** @param {import("./servers.mjs").Target} target */
export async function startFullAgent(target) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/v1`;
  const model = new Child("uipath-model", "python3", [told("PAGEHAND_UIPATH_MODEL"), "--port", String(port)]);
  await model.until("the agent's model", () => fetch(url));
  const options = ["--uipath-agent", told("PAGEHAND_UIPATH_AGENT"), "--uipath-model-url", url, "--uipath-time-limit-ms", "120000"];
  const service = await startService(target, { options });
  const stop = service.stop.bind(service);
  return Object.assign(service, { stop: () => Promise.all([stop(), model.stop()]) });
}
