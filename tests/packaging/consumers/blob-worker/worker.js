import { init } from "pagehand";
import { play } from "./app.js";

onmessage = async ({ data: { server, sources } }) => {
  await init(sources);
  postMessage(await play(server));
};
