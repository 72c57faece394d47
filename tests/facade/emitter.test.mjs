import assert from "node:assert/strict";
import { test } from "node:test";
import { Emitter } from "../../pkg-template/emitter.js";

test("a listener gets its topic until it unsubscribes", () => {
  const emitter = new Emitter();
  const heard = [];
  const off = emitter.on("status", (value) => heard.push(value));
  emitter.emit("status", 1);
  emitter.emit("message", 2);
  off();
  off();
  emitter.emit("status", 3);
  assert.deepEqual(heard, [1]);
});

test("a function that is added twice is called twice, and taken off one at a time", () => {
  const emitter = new Emitter();
  let calls = 0;
  const listener = () => calls++;
  const off = emitter.on("status", listener);
  emitter.on("status", listener);
  emitter.emit("status");
  off();
  off();
  emitter.emit("status");
  assert.equal(calls, 3);
});

test("listeners may come and go while an event is told", () => {
  const emitter = new Emitter();
  const heard = [];
  const offFirst = emitter.on("status", () => {
    heard.push("first");
    offFirst();
    offSecond();
    emitter.on("status", () => heard.push("late"));
  });
  const offSecond = emitter.on("status", () => heard.push("second"));
  emitter.on("status", () => heard.push("third"));
  emitter.emit("status");
  assert.deepEqual(heard, ["first", "third"]);
  emitter.emit("status");
  assert.deepEqual(heard, ["first", "third", "third", "late"]);
});

test("an exception in a listener is reported, and stops nobody", (t) => {
  const reported = [];
  globalThis.reportError = (error) => reported.push(error);
  t.after(() => delete globalThis.reportError);
  const emitter = new Emitter();
  const heard = [];
  emitter.on("status", () => {
    throw "mine";
  });
  emitter.on("status", (value) => heard.push(value));
  emitter.emit("status", 1);
  assert.deepEqual([reported, heard], [["mine"], [1]]);
});

test("topics and listeners are checked", () => {
  const emitter = new Emitter();
  assert.throws(() => emitter.on("calls", () => {}), { code: "invalid_argument" });
  assert.throws(() => emitter.on("call", undefined), { code: "invalid_argument" });
});

test("nobody wants what nobody listens to", () => {
  const emitter = new Emitter();
  assert.equal(emitter.wants("event"), false);
  const off = emitter.on("event", () => {});
  assert.equal(emitter.wants("event"), true);
  off();
  assert.equal(emitter.wants("event"), false);
  const stream = emitter.stream();
  assert.equal(emitter.wants("event"), true);
  stream.return();
  assert.equal(emitter.wants("event"), false);
});

test("an iterator gives what came since its making, and ends with the conversation", async () => {
  const emitter = new Emitter();
  emitter.emit("status", 0);
  const stream = emitter.stream();
  emitter.emit("status", 1);
  const later = [stream.next(), stream.next(), stream.next()];
  emitter.emit("message", 2);
  emitter.end();
  assert.deepEqual(await Promise.all(later), [
    { done: false, value: { type: "status", value: 1 } },
    { done: false, value: { type: "message", value: 2 } },
    { done: true, value: undefined },
  ]);
  assert.deepEqual(await emitter.stream().next(), { done: true, value: undefined });
});

test("a loop that falls too far behind gets what there was, then the reason, then its end", async () => {
  const emitter = new Emitter();
  emitter.unread = 2;
  const stream = emitter.stream();
  const quick = emitter.stream();
  const reading = [];
  for (const n of [1, 2, 3]) {
    reading.push(quick.next());
    emitter.emit("status", n);
  }
  assert.deepEqual([(await stream.next()).value.value, (await stream.next()).value.value], [1, 2]);
  await assert.rejects(stream.next(), { code: "limit_exceeded", details: { limit: "unreadEvents", most: 2 } });
  assert.equal((await stream.next()).done, true);
  assert.deepEqual((await Promise.all(reading)).map(({ value }) => value.value), [1, 2, 3]);
  assert.ok(emitter.wants("call"), "the other one goes on");
});

test("a loop that breaks off leaves", async () => {
  const emitter = new Emitter();
  const loop = (async () => {
    for await (const { value } of emitter.stream()) if (value === 2) return "left";
  })();
  emitter.emit("status", 1);
  emitter.emit("status", 2);
  assert.equal(await loop, "left");
  assert.equal(emitter.wants("status"), false);
});

test("what is wanted is told when it changes, and only then", async () => {
  let told = 0;
  const emitter = new Emitter(() => (told += 1));
  const wanted = () => [emitter.wants("status"), emitter.wants("event"), told];
  const off = emitter.on("status", () => {});
  const offSecond = emitter.on("status", () => {});
  assert.deepEqual(wanted(), [true, false, 1]);
  off();
  offSecond();
  offSecond();
  assert.deepEqual(wanted(), [false, false, 2]);
  const stream = emitter.stream();
  assert.deepEqual(wanted(), [true, true, 3]);
  await stream.return?.();
  assert.deepEqual(wanted(), [false, false, 4]);
});
