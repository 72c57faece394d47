// The ledger's database, as the tests of the page see it and spoil it.

/** Every record of every store of the ledger. */
export const stored = () =>
  new Promise((resolve, reject) => {
    const opening = indexedDB.open("pagehand");
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const database = opening.result;
      const names = [...database.objectStoreNames];
      const transaction = database.transaction(names);
      const reads = names.map((name) => transaction.objectStore(name).getAll());
      transaction.oncomplete = () => {
        database.close();
        resolve(reads.flatMap(({ result }) => result));
      };
    };
  });

/** Leaves things among the records of the one conversation that the ledger knows. Answers with the ids of the calls they are about. */
export const litter = () =>
  new Promise((resolve, reject) => {
    const ring = {};
    ring.ring = ring;
    const odd = {
      half: {},
      "half and open": { open: 1 },
      "of other types": { owner: 5, tool: [], at: "yesterday", until: {}, outcome: 7, open: 1 },
      "of a later version": { owner: { page: "p" }, at: new Date(), outcome: new Map(), open: 1, version: 9 },
      "no JSON": { open: 1, n: 10n },
      "a ring": { open: 1, ring },
      "words for an outcome": { owner: "o", tool: "t", at: Date.now(), until: Date.now(), outcome: "well" },
      "a number for an outcome": { owner: "o", tool: "t", at: Date.now(), until: Date.now(), outcome: "5" },
      "an owed outcome that is none": { owner: "o", tool: "t", at: Date.now(), until: Date.now(), outcome: "[]", open: 1 },
      "half, before a reload": {},
      "half and open, before a reload": { open: 1 },
    };
    const opening = indexedDB.open("pagehand");
    opening.onsuccess = () => {
      const database = opening.result;
      const transaction = database.transaction(["entries", "places"], "readwrite");
      const [entries, places] = [transaction.objectStore("entries"), transaction.objectStore("places")];
      entries.getAll().onsuccess = ({ target }) => {
        const [{ conversation }] = target.result;
        for (const [id, entry] of Object.entries(odd)) entries.add({ conversation, subject: `call ${id}`, ...entry });
        for (const subject of [5, new Date(), ["call", "a"]]) entries.add({ conversation, subject, open: 1 });
        entries.add({ conversation: [], subject: 5, open: 1 });
        places.put({ conversation, position: 5, at: ring });
        places.put({ conversation: 5, n: 1n });
      };
      transaction.onabort = () => reject(transaction.error);
      transaction.oncomplete = () => {
        database.close();
        resolve(Object.keys(odd));
      };
    };
  });

/** Brings the ledger's database to this version. */
export const takeDatabase = (version) =>
  new Promise((resolve, reject) => {
    const opening = indexedDB.open("pagehand", version);
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => resolve(opening.result.close());
  });
