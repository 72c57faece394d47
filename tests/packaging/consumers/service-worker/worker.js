import { play } from "./app.js";

onmessage = (event) => event.waitUntil(play(event.data).then((text) => event.source.postMessage(text)));
