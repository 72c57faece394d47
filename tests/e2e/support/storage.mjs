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

/** The database has the name and the version of ours and its stores, and takes every entry under a key of its own. */
function foreign() {
  indexedDB.open("pagehand", 1).addEventListener("upgradeneeded", ({ target }) => {
    for (const [name, open] of [["entries", ["conversation", "open"]], ["places", "at"]]) {
      const store = target.result.createObjectStore(name, { autoIncrement: true });
      store.createIndex("open", open);
      store.createIndex("at", "at");
    }
  });
}

/** The database has our name and nothing in it. */
function bare() {
  indexedDB.open("pagehand", 1);
}

/** The database is a later version's. */
function later() {
  indexedDB.open("pagehand", 99);
}

/** Somebody holds the database open, and somebody else waits to bring it to another version. */
function contested() {
  indexedDB.open("pagehand", 1);
  indexedDB.open("pagehand", 2);
}

export const BROKEN_STORAGE = { missing, blocked, failing, silent, foreign, bare, later, contested };
