/** The end of `init` at a terminal: one search to see that it works, if the user agrees to its cost. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readEnvironment } from "../../config/environment.ts";
import { KEY_VARIABLE } from "../../setup/clients.ts";
import { printFailure } from "../output.ts";
import { confirmStep } from "./terminal.ts";

const QUESTION = "What is the newest LTS version of Node.js?";

/** Returns whether the user answered. Runs the search as a command of its own, as a user would. */
export async function offerTrial(key: string | undefined): Promise<boolean> {
  const agreed = await confirmStep(`Try it now with one search? It costs about a cent. “${QUESTION}”`, {
    proposed: true,
  });
  if (agreed !== true) return agreed !== undefined;
  await printFailure("");
  const child = spawn(process.execPath, [process.argv[1] ?? "", "search", QUESTION], {
    env: { ...readEnvironment(), ...(key === undefined ? {} : { [KEY_VARIABLE]: key }) },
    stdio: ["ignore", "inherit", "inherit"],
  });
  await once(child, "exit");
  return true;
}
