/**
 * Imports a server as Claude Desktop does, under the conditions of an Electron utility process: other versions, other
 * arguments, no usable `execPath`, and a process that must not be ended from inside. `node utility-process-host.ts <entry>`.
 */

import { pathToFileURL } from "node:url";

const [, , entry = ""] = process.argv;

const override = (name: keyof NodeJS.Process, value: unknown): unknown =>
  Object.defineProperty(process, name, { value, configurable: true });

// A Node.js that package.json does not list.
override("versions", { ...process.versions, node: "23.11.0", electron: "44.0.0", chrome: "140.0.0.0" });
override("execPath", "/nonexistent/Claude Helper (Plugin)");
override("argv", [
  "/nonexistent/Claude Helper (Plugin)",
  "--type=utility",
  "--utility-sub-type=node.mojom.NodeService",
]);
override("exit", (code: number) => {
  process.stderr.write(`HOST: process.exit(${code}) was called\n`);
  process.abort();
});

await import(pathToFileURL(entry).href);
