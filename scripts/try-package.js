/**
 * Tries the package as a user gets it: installs a tarball into an empty directory whose name has spaces and non-ASCII
 * letters, then starts the command and the MCP server without a key and without a network. Runs on every supported
 * Node.js, without this repository's dependencies: `node scripts/try-package.js gemini-search-mcp-0.2.0.tgz`. With the
 * addresses of a simulator and of a proxy it also searches through that proxy.
 */

import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

const MAX_SECONDS = 60;

/** @param {string} tarball @param {string} folder */
function install(tarball, folder) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true }');
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--offline", "--omit=optional", "--omit=peer"];
  // npm is a script on Windows, which starts only with a shell; the arguments are ours.
  const { status, stderr } = spawnSync("npm", ["install", ...flags, quoted(tarball)], {
    cwd: folder,
    encoding: "utf8",
    shell: process.platform === "win32",
  });
  if (status !== 0) throw new Error(`npm install failed: ${stderr}`);
  const packages = readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith("."));
  if (packages.join() !== "gemini-search-mcp") throw new Error(`installed more than itself: ${packages.join(", ")}`);
  return join(folder, "node_modules/gemini-search-mcp/bin/gemini-search-mcp.js");
}

/** @param {string} bin @param {NodeJS.ProcessEnv} env @param {{ gemini: string, proxy: string }} addresses */
function search(bin, env, { gemini, proxy }) {
  const { status, stdout, stderr } = run(
    bin,
    {
      ...env,
      GEMINI_API_KEY: "not-a-real-key",
      SEARCH_BACKEND: "api",
      GOOGLE_GEMINI_BASE_URL: gemini,
      HTTP_PROXY: proxy,
      HTTPS_PROXY: proxy,
      NO_PROXY: "",
      // Node.js 22 reads the variables only with this one.
      NODE_USE_ENV_PROXY: "1",
    },
    ["search", "How do heat pumps perform in cold climates?", "--json"],
  );
  return status === 0 && JSON.parse(stdout).success === true ? "answered" : stderr;
}

const quoted = (/** @type {string} */ path) => (process.platform === "win32" ? `"${path}"` : path);

/** @param {string} bin @param {string} home */
const environment = (bin, home) => ({
  ...process.env,
  HOME: home,
  USERPROFILE: home,
  APPDATA: join(home, "AppData"),
  XDG_CONFIG_HOME: join(home, ".config"),
  GEMINI_API_KEY: "",
  GOOGLE_API_KEY: "",
  HTTPS_PROXY: "http://127.0.0.1:9",
  HTTP_PROXY: "http://127.0.0.1:9",
});

/** @param {string} bin @param {NodeJS.ProcessEnv} env @param {string[]} args */
function run(bin, env, args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], {
    env,
    encoding: "utf8",
    timeout: MAX_SECONDS * 1_000,
  });
  return { status, stdout, stderr };
}

/** Lists the tools as an MCP client of 2025-06-18 does. @param {string} bin @param {NodeJS.ProcessEnv} env */
function listTools(bin, env) {
  return new Promise((done, fail) => {
    const server = spawn(process.execPath, [bin], { env, stdio: ["pipe", "pipe", "inherit"] });
    const timer = setTimeout(() => fail(new Error("no list of tools")), MAX_SECONDS * 1_000);
    const send = (/** @type {object} */ message) =>
      server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    createInterface({ input: server.stdout }).on("line", (line) => {
      const { id, result } = JSON.parse(line);
      if (id === 1) {
        send({ method: "notifications/initialized" });
        send({ id: 2, method: "tools/list" });
      }
      if (id !== 2) return;
      clearTimeout(timer);
      server.stdin.end();
      server.on("exit", (code) =>
        done({ code, tools: result.tools.map((/** @type {{name: string}} */ tool) => tool.name) }),
      );
    });
    const clientInfo = { name: "try-package", version: "1.0.0" };
    send({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } });
  });
}

async function main() {
  const base = mkdtempSync(join(tmpdir(), "gemini-search-package-"));
  try {
    const bin = install(resolve(process.argv[2] ?? ""), join(base, "my tools é 検索"));
    const env = environment(bin, join(base, "home of Zoë"));
    mkdirSync(join(base, "home of Zoë"));
    const version = run(bin, env, ["--version"]);
    const doctor = run(bin, env, ["doctor", "--offline", "--json"]);
    const { code, tools } = await listTools(bin, env);
    const [, , , gemini, proxy] = process.argv;
    const report = {
      node: process.versions.node,
      platform: process.platform,
      version: version.stdout.trim(),
      doctor: JSON.parse(doctor.stdout || "null") === null ? doctor.stderr : "answered",
      serverExit: code,
      tools: tools.length,
      ...(gemini === undefined || proxy === undefined ? {} : { search: search(bin, env, { gemini, proxy }) }),
    };
    process.stdout.write(`${JSON.stringify(report)}\n`);
    if (version.status !== 0 || report.doctor !== "answered" || code !== 0 || tools.length < 5) process.exitCode = 1;
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

await main();
