/**
 * Records how a newcomer installs the program, with the real clients and packers, and writes
 * docs/engineering/install-transcripts.md: `npm run --silent build && npx node scripts/install-transcripts.ts`. npm
 * downloads Claude Code on first use.
 */

import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { FACTS, PACKAGE, ROOT, VERSIONED_PACKAGE } from "../distribution/facts.ts";
import { claudeCode } from "../lab/clients/claude-code.ts";
import { install } from "../lab/clients/client.ts";
import { startFleet } from "./fleet.ts";

const MAX_LINES = 24;
const NOT_PUBLISHED = `The plugin starts \`npx -y ${VERSIONED_PACKAGE}\`, which works once that version is published.`;
const PLUGIN_FILES = [
  ".claude-plugin",
  "skills",
  "assets",
  "README.md",
  "LICENSE",
  "plugin.json",
  "mcp.json",
  "gemini-extension.json",
];

interface Step {
  /** The command line as a newcomer types it. */
  shown: string;
  program: string;
  args: string[];
  cwd: string;
  stdin?: string;
}

interface Chapter {
  title: string;
  about: string;
  steps: Step[];
}

const base = mkdtempSync(join(tmpdir(), "gemini-search-newcomer-"));
const home = join(base, "home");
const empty = join(base, "empty");
const clone = join(base, "gemini-search-mcp");

/** A machine with Node.js and npm, and none of the assistants of this repository on PATH. */
const tools = join(base, "bin");

const environment: Record<string, string> = {
  PATH: [tools, "/usr/bin", "/bin"].join(delimiter),
  HOME: home,
  TERM: "dumb",
  NO_COLOR: "1",
  // Nothing of this leaves the machine.
  HTTPS_PROXY: "http://127.0.0.1:9",
  DISABLE_AUTOUPDATER: "1",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
};

/** What differs between recordings, or names this machine. */
const REPLACED: [RegExp, string][] = [
  [new RegExp(join(tools, "node"), "g"), "/usr/local/bin/node"],
  [new RegExp(ROOT, "g"), "~/gemini-search-mcp"],
  [new RegExp(clone, "g"), "~/gemini-search-mcp"],
  [new RegExp(empty, "g"), "~/empty"],
  [new RegExp(`${home}(?=/|\\s|$)`, "g"), "~"],
  [new RegExp(`${base}/`, "g"), ""],
  [/\b\d[\d,]* MB free/g, "… MB free"],
  [/ in \d+(?:ms|s)\b/g, ""],
  // oxlint-disable-next-line no-control-regex -- escape sequences of terminals
  [/\u001B\[[\d;?]*[A-Za-z]/g, ""],
  [/^npm warn .*\n/gm, ""],
  [/\b[\da-f]{40,}\b/g, "…"],
];

function record({ program, args, cwd, stdin = "" }: Step): Promise<string> {
  return new Promise((done) => {
    const child = execFile(program, args, { cwd, env: environment, timeout: 120_000 }, (_error, stdout, stderr) =>
      done(stdout + stderr),
    );
    child.stdin?.end(stdin);
  });
}

function shownOutput(output: string): string {
  const cleaned = REPLACED.reduce((text, [from, to]) => text.replaceAll(from, to), output);
  const lines = cleaned.split("\n").map((line) => line.trimEnd());
  const kept = lines.filter((line, index) => line !== "" || lines[index - 1] !== "");
  const text = kept.slice(0, MAX_LINES).join("\n").trim();
  return kept.length > MAX_LINES ? `${text}\n…` : text;
}

async function write({ title, about, steps }: Chapter): Promise<string> {
  const parts: string[] = [`## ${title}`, about];
  for (const step of steps) {
    const output = shownOutput(await record(step));
    parts.push(["```text", `$ ${step.shown}`, ...(output === "" ? [] : [output]), "```"].join("\n"));
  }
  return parts.join("\n\n");
}

function claudeChapter(claude: string): Chapter {
  const step = (shown: string, ...args: string[]): Step => ({
    shown: `claude plugin ${shown}`,
    program: claude,
    args: ["plugin", ...args],
    cwd: home,
  });
  const plugin = `${FACTS.name}@${FACTS.package}`;
  return {
    title: "Plugin in Claude Code",
    about: `Claude Code ${claudeCode.version}, with the repository as a local marketplace. ${NOT_PUBLISHED}`,
    steps: [
      step("marketplace add ~/gemini-search-mcp", "marketplace", "add", clone),
      step(`install ${plugin} --config gemini_api_key=…`, "install", plugin, "--config", "gemini_api_key=not-a-key"),
      step("list", "list"),
      step(`details ${FACTS.name}`, "details", FACTS.name),
    ],
  };
}

function geminiChapter(): Chapter {
  const step = (shown: string, args: string[], stdin = ""): Step => ({
    shown: `gemini extensions ${shown}`,
    program: resolve(ROOT, "node_modules/.bin/gemini"),
    args: ["extensions", ...args],
    cwd: home,
    stdin,
  });
  return {
    title: "Extension in Gemini CLI",
    about: `Without \`--skip-settings\` it asks for the key. ${NOT_PUBLISHED}`,
    steps: [
      step("validate ~/gemini-search-mcp", ["validate", clone]),
      step(
        "install ~/gemini-search-mcp --consent --skip-settings",
        ["install", clone, "--consent", "--skip-settings"],
        "y\n",
      ),
      step("list", ["list"]),
    ],
  };
}

function desktopChapter(): Chapter {
  const file = `distribution/out/${FACTS.name}-${PACKAGE.version}.mcpb`;
  const mcpb = (shown: string, args: string[]): Step => ({
    shown: `npx mcpb ${shown}`,
    program: resolve(ROOT, "node_modules/.bin/mcpb"),
    args,
    cwd: ROOT,
  });
  const unpacked = join(base, "unpacked");
  return {
    title: "Desktop bundle",
    about:
      "Claude Desktop opens the file with a double click and asks for the key. It has no version for this machine, so the bundle is packed and unpacked by the official packer; `test/distribution/desktop-bundle.test.ts` runs it under the conditions of an Electron utility process.",
    steps: [
      { shown: "npm run bundle", program: process.execPath, args: ["scripts/desktop-bundle.ts"], cwd: ROOT },
      mcpb(`info ${file}`, ["info", file]),
      mcpb(`unpack ${file} unpacked`, ["unpack", file, unpacked]),
    ],
  };
}

function tarballChapter(): Chapter {
  const npm = (shown: string, args: string[], cwd: string): Step => ({ shown, program: "npm", args, cwd });
  const tarball = `${FACTS.package}-${PACKAGE.version}.tgz`;
  const bin = join(empty, "node_modules/.bin", FACTS.package);
  const own = (shown: string, ...args: string[]): Step => ({
    shown: `npx gemini-search-mcp ${shown}`,
    program: bin,
    args,
    cwd: empty,
  });
  return {
    title: "Tarball in an empty directory",
    about: "No key, no network, no other package.",
    steps: [
      npm(
        "npm pack --pack-destination ~/empty",
        ["pack", "--ignore-scripts", "--silent", "--pack-destination", empty],
        ROOT,
      ),
      npm(`npm install ./${tarball}`, ["install", "--offline", "--no-audit", "--no-fund", `./${tarball}`], empty),
      own("--version", "--version"),
      own("doctor --offline", "doctor", "--offline"),
      own("init claude-code --dry-run", "init", "claude-code", "--dry-run"),
      own("demo", "demo"),
    ],
  };
}

/** The processes of compose.yaml without containers, and what an operator sees of them. */
async function fleetChapter(): Promise<string> {
  const fleet = await startFleet();
  try {
    const started = fleet.processes.map(({ service, url }) =>
      url === undefined ? service : `${service} at ${url}/mcp`,
    );
    const server = fleet.processes.find(({ url }) => url !== undefined);
    const health = await (await fetch(`${server?.url}/health`)).text();
    return [
      "## compose.yaml without containers",
      "`npm run fleet` starts the processes of `compose.yaml` with a temporary PostgreSQL and the simulator.",
      ["```text", "$ npm run fleet", ...started, "```"].join("\n").replaceAll(/:\d{4,5}\//g, ":PORT/"),
      [
        "```text",
        "$ curl http://127.0.0.1:PORT/health",
        health.replace(/"timestamp":"[^"]+"/, '"timestamp":"…"'),
        "```",
      ].join("\n"),
    ].join("\n\n");
  } finally {
    await fleet.stop();
  }
}

async function main(): Promise<void> {
  for (const folder of [home, empty, clone, tools]) mkdirSync(folder, { recursive: true });
  symlinkSync(process.execPath, join(tools, "node"));
  for (const file of PLUGIN_FILES) cpSync(resolve(ROOT, file), join(clone, file), { recursive: true });
  try {
    const chapters: string[] = [];
    for (const chapter of [
      tarballChapter(),
      claudeChapter(await install(claudeCode)),
      geminiChapter(),
      desktopChapter(),
    ])
      chapters.push(await write(chapter));
    chapters.push(await fleetChapter());
    const opening =
      "# Installing, step by step\n\nRecorded by `npx node scripts/install-transcripts.ts` after `npm run build`, on Linux with the real clients. Long output is cut (…).";
    writeFileSync(resolve(ROOT, "docs/engineering/install-transcripts.md"), `${[opening, ...chapters].join("\n\n")}\n`);
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

await main();
