// The entries for one kind of server.
import * as all from "pagehand";
import * as openhands from "pagehand/openhands";
import * as uipath from "pagehand/uipath";

openhands.openhands satisfies typeof all.openhands;
openhands.dispatcher satisfies typeof all.dispatcher;
uipath.uipath satisfies typeof all.uipath;
// What both have is the same.
openhands.tool satisfies typeof uipath.tool;
openhands.PagehandError satisfies typeof uipath.PagehandError;
export type Same = [openhands.Tool, openhands.WasmSource] & [uipath.Tool, uipath.WasmSource];
// @ts-expect-error: another entry's
openhands.uipath;
// @ts-expect-error: another entry's
uipath.openhands;

export async function loading(): Promise<void> {
  await openhands.init({ openhands: true, schema: true });
  await uipath.init({ uipath: true, schema: "/schema.wasm" });
  // @ts-expect-error: another entry's
  await openhands.init({ uipath: true });
  // @ts-expect-error: another entry's
  await uipath.init({ openhands: true });
}
