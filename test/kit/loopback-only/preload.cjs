/**
 * Loaded before every Node.js process of a test run: connections, datagrams and lookups beyond loopback fail as on a
 * machine without a network, and are recorded. The summary reporter fails the run if there is a record, even if the
 * program handled the error. CommonJS, because `--require` is the fastest way to load a module in every process and
 * worker thread.
 */

"use strict";

const childProcess = require("node:child_process");
const dns = require("node:dns");
const fs = require("node:fs");
const { syncBuiltinESMExports } = require("node:module");
const { isIP } = require("node:net");
const os = require("node:os");
const path = require("node:path");

const INSTALLED = Symbol.for("gemini-search-mcp loopback only");
/** The file of this run, which the reporter reads. */
const RECORDS = process.env["LOOPBACK_ONLY_RECORDS"] ?? path.join(os.tmpdir(), "beyond-loopback.jsonl");
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
  isIP(name) !== 0 ||
  /(?:^|\.)localhost\.?$/i.test(name) ||
  name === os.hostname() ||
  name.split(".").some((label) => label.length > 63);

/** The methods of the handles below `net`, `tls`, `http` and `fetch`, so that no module can pass by. */
function guardHandles() {
  const refused = -os.constants.errno.ENETUNREACH;
  const guard = (prototype, method, addressAt) => {
    const original = prototype[method];
    prototype[method] = function (...parameters) {
      const address = parameters[addressAt];
      if (typeof address !== "string" || isLoopback(address)) return original.apply(this, parameters);
      record(`${method} ${address}`);
      return refused;
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

function guardLookups() {
  const refusal = (name, call) => {
    if (!isLookupOfGeminiCli(name)) record(`${call} ${name}`);
    return Object.assign(new Error(`${call} ENOTFOUND ${name}`), { code: "ENOTFOUND", syscall: call, hostname: name });
  };
  const guard = (owner, method, refuse) => {
    const original = owner[method];
    if (typeof original !== "function") return;
    owner[method] = function (name, ...rest) {
      if (typeof name !== "string" || isLocalName(name)) return original.call(this, name, ...rest);
      return refuse(refusal(name, method), rest);
    };
  };
  const throughCallback = (error, rest) => process.nextTick(rest.at(-1), error);
  const throughPromise = (error) => Promise.reject(error);
  const resolving = (owner) => Object.keys(owner).filter((name) => /^resolve|^lookup$/.test(name));
  for (const method of resolving(dns)) guard(dns, method, throughCallback);
  for (const method of resolving(dns.promises)) guard(dns.promises, method, throughPromise);
  for (const method of resolving(dns.Resolver.prototype)) guard(dns.Resolver.prototype, method, throughCallback);
  const promised = dns.promises.Resolver.prototype;
  for (const method of resolving(promised)) guard(promised, method, throughPromise);
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
  const { spawn } = childProcess.ChildProcess.prototype;
  childProcess.ChildProcess.prototype.spawn = function (request) {
    return spawn.call(this, { ...request, envPairs: withGuard(request.envPairs ?? []) });
  };
  const asPairs = (env) =>
    Object.entries(env).flatMap(([key, value]) => (value === undefined ? [] : [`${key}=${value}`]));
  const asEnv = (pairs) =>
    Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]));
  for (const method of ["spawnSync", "execFileSync", "execSync"]) {
    const original = childProcess[method];
    childProcess[method] = (file, ...rest) => {
      const last = rest.at(-1);
      const hasOptions = typeof last === "object" && last !== null && !Array.isArray(last);
      const given = hasOptions ? last : {};
      const parameters = hasOptions ? rest.slice(0, -1) : rest.filter((one) => one !== undefined);
      return original(file, ...parameters, { ...given, env: asEnv(withGuard(asPairs(given.env ?? process.env))) });
    };
  }
}

if (globalThis[INSTALLED] === undefined) {
  globalThis[INSTALLED] = true;
  guardHandles();
  guardLookups();
  guardChildren();
  syncBuiltinESMExports();
}
