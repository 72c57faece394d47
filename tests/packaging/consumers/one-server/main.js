import { init, openhands } from "pagehand";

openhands({ url: location.origin });
init({ openhands: true, schema: true }).then(() => (document.querySelector("p").textContent = "pagehand: ready"));
