// What the page's driver does not see, written down by the page itself before any other code of it runs. The test takes lines out.
{
  const wanted = new URL(document.currentScript.src).searchParams;
  const lines = (globalThis.recorded = []);
  const note = (what, ...more) => lines.push([what, ...more]);

  if (wanted.has("sockets")) {
    let opened = 0;
    globalThis.WebSocket = class extends WebSocket {
      #number = (opened += 1);

      constructor(...args) {
        super(...args);
        note("socket", this.#number, this.url);
      }

      send(data) {
        note("frame", this.#number, String(data));
        super.send(data);
      }
    };
  }

  if (wanted.has("requests")) {
    const real = globalThis.fetch;
    globalThis.fetch = (resource, options) => {
      note("request", new URL(resource.url ?? resource, location.href).href);
      return real(resource, options);
    };
  }

  if (wanted.has("console")) {
    for (const level of ["debug", "log", "info", "warn", "error"]) {
      const real = console[level];
      console[level] = (...line) => {
        note("console", line.map(String).join(" "));
        real.apply(console, line);
      };
    }
    addEventListener("error", ({ message }) => note("console", message));
    addEventListener("unhandledrejection", ({ reason }) => note("console", String(reason)));
  }
}
