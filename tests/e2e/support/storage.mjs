// Browsers whose storage does not work. Each is done to a page before any code of its own runs.

/** `indexedDB` is there in name only, as in some private windows. */
function missing() {
  Object.defineProperty(globalThis, "indexedDB", { value: undefined });
}

/** Opening throws, as where cookies are forbidden. */
function blocked() {
  IDBFactory.prototype.open = () => {
    throw new DOMException("The operation is insecure.", "SecurityError");
  };
}

/** Opening fails: the new database is given up on. */
function failing() {
  const open = IDBFactory.prototype.open;
  IDBFactory.prototype.open = function (name) {
    const request = open.call(this, `failing ${name}`, 1);
    request.addEventListener("upgradeneeded", (event) => {
      event.stopImmediatePropagation();
      request.transaction?.abort();
    });
    return request;
  };
}

/** Opening is never answered. */
function silent() {
  const open = IDBFactory.prototype.open;
  IDBFactory.prototype.open = function (name) {
    const request = open.call(this, `silent ${name}`, 1);
    for (const type of ["success", "error", "upgradeneeded", "blocked"]) {
      request.addEventListener(type, (event) => event.stopImmediatePropagation());
    }
    return request;
  };
}

export const BROKEN_STORAGE = { missing, blocked, failing, silent };
