/** Shows a long text in the pager of the user, as git and gh do. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { isAbsolute } from "node:path";
import type { Environment } from "../config/environment.ts";
import { findProgram } from "../platform/find-program.ts";

const DEFAULT = "less";
/** Quits where the text fits, keeps colours, and leaves the text on the screen; unless the user has chosen otherwise. */
const LESS = "FRX";

/** False if there is no pager, or none is wanted: then nothing was shown. */
export async function showInPager(text: string, environment: Environment): Promise<boolean> {
  const [name = "", ...args] = (environment["PAGER"] ?? DEFAULT).trim().split(/\s+/);
  if (name === "" || name === "cat") return false;
  const program = isAbsolute(name) ? name : findProgram(name, environment, process.platform);
  if (program === undefined) return false;
  const pager = spawn(program, args, {
    stdio: ["pipe", "inherit", "inherit"],
    env: { ...environment, LESS: environment["LESS"] ?? LESS },
  });
  const { stdin } = pager;
  // Ctrl-C belongs to the pager while it is open, and it may be left before it has read everything.
  // Raw: a handler that was added with `once` is put back as such.
  const handlers = process.rawListeners("SIGINT");
  process.removeAllListeners("SIGINT").on("SIGINT", () => undefined);
  stdin.on("error", () => undefined);
  stdin.end(text.endsWith("\n") ? text : `${text}\n`);
  try {
    await once(pager, "exit");
    return true;
  } catch {
    return false;
  } finally {
    process.removeAllListeners("SIGINT");
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- they were registered for this signal
    for (const handler of handlers) process.on("SIGINT", handler as NodeJS.SignalsListener);
  }
}
