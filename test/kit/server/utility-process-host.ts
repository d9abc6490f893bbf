/**
 * Imports a server as Claude Desktop does, under the conditions of an Electron utility process: other versions, other
 * arguments, no usable `execPath`, and a process that must not be ended from inside. `node utility-process-host.ts <entry>`.
 *
 * Electron connects no input to a utility process (electronjs.org/docs/latest/api/utility-process). With an IPC channel
 * the messages therefore arrive at `process.parentPort`, and the host puts streams in place of stdin and stdout.
 */

import { EventEmitter } from "node:events";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [, , entry = ""] = process.argv;

const override = (name: string, value: unknown): unknown =>
  Object.defineProperty(process, name, { value, configurable: true });

// A Node.js that package.json does not list.
override("versions", { ...process.versions, node: "23.11.0", electron: "44.0.0", chrome: "140.0.0.0" });
override("type", "utility");
override("resourcesPath", "/nonexistent/resources");
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
if (process.send !== undefined) replaceStreams(process.send.bind(process));

function replaceStreams(send: (message: unknown) => unknown): void {
  const port = Object.assign(new EventEmitter(), { postMessage: (data: unknown) => void send(data) });
  process.on("message", (data) => port.emit("message", { data }));
  override("parentPort", port);
  const input = new Readable({ read: () => {} });
  port.on("message", ({ data }: { data: string | null }) => {
    input.push(data);
    // The owner closes the port; the channel would keep the process alive.
    if (data === null) process.disconnect();
  });
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      if (process.connected) port.postMessage(chunk.toString());
      done();
    },
  });
  override("stdin", input);
  override("stdout", output);
}

await import(pathToFileURL(entry).href);
