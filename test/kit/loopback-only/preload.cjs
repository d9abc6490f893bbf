/**
 * Loaded before every Node.js process of a test run: connections, datagrams and lookups beyond loopback fail as on a
 * machine without a network, and are recorded. The summary reporter fails the run if there is a record, even if the
 * program handled the error. CommonJS, because `--require` is the fastest way to load a module in every process and
 * worker thread. It guards the bindings below Node's modules, so that no module can pass by, and loads no module that
 * the program itself may not need: a run starts thousands of processes.
 */

"use strict";

const fs = require("node:fs");

const INSTALLED = Symbol.for("gemini-search-mcp loopback only");
/** The file of this run, which the reporter reads. */
const RECORDS = process.env["LOOPBACK_ONLY_RECORDS"] ?? `${require("node:os").tmpdir()}/beyond-loopback.jsonl`;
/** Passed on to every process: which test file started it. */
const TEST_FILE = "LOOPBACK_ONLY_TEST_FILE";
const appendFile = fs.appendFileSync;

function record(target) {
  const line = {
    target,
    test: process.env[TEST_FILE] ?? "unknown",
    pid: process.pid,
    command: process.argv.slice(1, 4).join(" ").slice(0, 300),
    stack: (new Error("beyond loopback").stack ?? "")
      .split("\n")
      .slice(3, 12)
      .map((frame) => frame.trim()),
  };
  try {
    appendFile(RECORDS, `${JSON.stringify(line)}\n`);
  } catch {
    process.stderr.write(`BEYOND LOOPBACK ${JSON.stringify(line)}\n`);
  }
}

const isLoopback = (address) =>
  /^(?:::ffff:)?127\./i.test(address) || ["::1", "0.0.0.0", "::", "::ffff:0.0.0.0"].includes(address);

/** Answered without a query: addresses, the names of this machine, and labels that are too long to be sent. */
const isLocalName = (name) =>
  name === "" ||
  name.includes(":") ||
  /^[\d.]+$/.test(name) ||
  /(?:^|\.)localhost\.?$/i.test(name) ||
  name === require("node:os").hostname() ||
  name.split(".").some((label) => label.length > 63);

/** Of libuv: the name does not exist. */
const EAI_NONAME = -3008;

/** The methods of the handles below `net`, `tls`, `http` and `fetch`. */
function guardHandles() {
  const guard = (prototype, method, addressAt) => {
    const original = prototype[method];
    prototype[method] = function (...parameters) {
      const address = parameters[addressAt];
      if (typeof address !== "string" || isLoopback(address)) return original.apply(this, parameters);
      record(`${method} ${address}`);
      return -require("node:os").constants.errno.ENETUNREACH;
    };
  };
  const { TCP } = process.binding("tcp_wrap");
  const { UDP } = process.binding("udp_wrap");
  for (const method of ["connect", "connect6"]) {
    guard(TCP.prototype, method, 1);
    guard(UDP.prototype, method, 0);
  }
  for (const method of ["send", "send6"]) guard(UDP.prototype, method, 4);
}

/**
 * The real Gemini CLI looks up the host of a page before it asks the model to open it. Its lookup fails here and
 * nothing is sent, so it is no attempt of ours.
 */
const isLookupOfGeminiCli = (name) =>
  name === "vertexaisearch.cloud.google.com" && (process.argv[1] ?? "").includes("@google/gemini-cli/");

/** Below `dns` and its promises: `lookup` is `getaddrinfo`, `resolve` and its kin are queries of a channel. */
function guardLookups() {
  const guard = (owner, method, { call, error }) => {
    const original = owner[method];
    owner[method] = function (request, name, ...rest) {
      if (typeof name !== "string" || isLocalName(name)) return original.call(this, request, name, ...rest);
      if (!isLookupOfGeminiCli(name)) record(`${call} ${name}`);
      process.nextTick(() => request.oncomplete(error, null));
      return 0;
    };
  };
  const bindings = process.binding("cares_wrap");
  guard(bindings, "getaddrinfo", { call: "lookup", error: EAI_NONAME });
  const channel = bindings.ChannelWrap.prototype;
  for (const method of Object.keys(channel).filter((name) => name.startsWith("query"))) {
    guard(channel, method, { call: method, error: "ENOTFOUND" });
  }
}

/** Children inherit the guard, also those that are started with an environment of their own. */
function guardChildren() {
  const options = `--require=${JSON.stringify(__filename)}`;
  const withGuard = (pairs) => {
    const own = pairs.find((pair) => pair.startsWith("NODE_OPTIONS="))?.slice("NODE_OPTIONS=".length) ?? "";
    if (own.includes(__filename)) return pairs;
    const others = pairs.filter((pair) => !/^(?:NODE_OPTIONS|LOOPBACK_ONLY_\w+)=/.test(pair));
    return [
      ...others,
      `NODE_OPTIONS=${own === "" ? options : `${options} ${own}`}`,
      `LOOPBACK_ONLY_RECORDS=${RECORDS}`,
      `${TEST_FILE}=${process.env[TEST_FILE] ?? "unknown"}`,
    ];
  };
  for (const owner of [process.binding("process_wrap").Process.prototype, process.binding("spawn_sync")]) {
    const { spawn } = owner;
    owner.spawn = function (request, ...rest) {
      // Some versions of Node.js pass an object, others the file, arguments, directory and environment.
      if (typeof request === "object") {
        return spawn.call(this, { ...request, envPairs: withGuard(request.envPairs ?? []) });
      }
      const [parameters, directory, environment, ...more] = rest;
      return spawn.call(this, request, parameters, directory, withGuard(environment ?? []), ...more);
    };
  }
}

if (globalThis[INSTALLED] === undefined) {
  globalThis[INSTALLED] = true;
  guardHandles();
  guardLookups();
  guardChildren();
}
