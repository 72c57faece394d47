import { play } from "./app.js";

const server = new URLSearchParams(location.search).get("server");
play(server).then((text) => (document.querySelector("p").textContent = text));
