/** The guard of test runs notices every way to reach an address beyond loopback, also in processes without environment. */

import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const PRELOAD = join(import.meta.dirname, "kit/loopback-only/preload.cjs");

/** Handles every error, as a program may. */
const PROGRAM = `
  const { spawnSync } = require("node:child_process");
  const { once } = require("node:events");
  const ignore = () => undefined;
  const attempt = async () => {
    await fetch("http://93.184.216.34/").catch(ignore);
    await fetch("http://127.0.0.1:1/").catch(ignore);
    await require("node:dns/promises").lookup("site-a.org").catch(ignore);
    await require("node:dns/promises").lookup("localhost").catch(ignore);
    const address = (_host, _options, done) => done(null, [{ address: "93.184.216.35", family: 4 }]);
    await once(require("node:net").connect({ host: "site-b.org", port: 80, lookup: address }), "close").catch(ignore);
    await new Promise((done) => require("node:dgram").createSocket("udp4").unref().send("x", 53, "93.184.216.36", done));
    const program = (n) => "fetch('http://93.184.216." + n + "/').catch(() => undefined)";
    await once(new (require("node:worker_threads").Worker)(program(37), { eval: true }), "exit");
    spawnSync(process.execPath, ["-e", program(38)], { env: {} });
    await once(require("node:child_process").spawn(process.execPath, ["-e", program(39)], { env: {} }), "exit");
  };
  void attempt();
`;

test("connections, datagrams and lookups beyond loopback are recorded, in threads and children too", async () => {
  const folder = mkdtempSync(join(tmpdir(), "loopback-only-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const records = join(folder, "records.jsonl");
  // With the guard in NODE_OPTIONS already, the variables of this run are not passed on.
  const env = { NODE_OPTIONS: `--require=${JSON.stringify(PRELOAD)}`, LOOPBACK_ONLY_RECORDS: records };
  await promisify(execFile)(process.execPath, ["-e", PROGRAM], { env });
  const lines = readFileSync(records, "utf8").trim().split("\n");
  expect(lines.map((line): unknown => JSON.parse(line).target)).toEqual([
    "connect 93.184.216.34",
    "lookup site-a.org",
    "connect 93.184.216.35",
    "send 93.184.216.36",
    "connect 93.184.216.37",
    "connect 93.184.216.38",
    "connect 93.184.216.39",
  ]);
});
