import { play } from "./app.js";

onmessage = async ({ data }) => postMessage(await play(data));
