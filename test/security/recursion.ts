/** A Gemini CLI that starts this program as one of its tools: the second level is refused (T5). */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openCliScene } from "../kit/simulator/cli-scene.ts";
import { BIN } from "../kit/server/server.ts";
import { openVerdict, type Stage, type Verdict } from "./trial.ts";

const STANDIN = new URL("../../simulator/gemini-cli/standin-cli.ts", import.meta.url).href;

/** The commands that it tries before it answers: the server, and every command that could reach Gemini. */
const COMMANDS = [[], ["search", "again"], ["deep-search", "again"], ["deep-research", "again"]];

/**
 * A replacement for `gemini` that calls this program in its own environment, records the outcome, and answers as usual.
 */
const program = (file: string): string => `#!${process.execPath}
const { spawnSync } = require("node:child_process");
const { appendFileSync } = require("node:fs");
const message = (id, method, params) => JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\\n";
const input = message(1, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "x", version: "1" } })
  + message(2, "tools/call", { name: "search", arguments: { query: "again and again" } });
for (const command of ${JSON.stringify(COMMANDS)}) {
  const { status, stdout } = spawnSync(process.execPath, [${JSON.stringify(BIN)}, ...command], { input, encoding: "utf8" });
  appendFileSync(${JSON.stringify(file)}, JSON.stringify({ command, status, stdout }) + "\\n");
}
import(${JSON.stringify(STANDIN)}).then((standin) => standin.runStandin());
`;

export async function tryRecursion(stage: Stage): Promise<Verdict> {
  const verdict = openVerdict();
  const scene = openCliScene(stage);
  const file = join(scene.folder, "again.jsonl");
  writeFileSync(join(scene.folder, "bin", "gemini"), program(file), { mode: 0o755 });
  const server = await scene.server({ era: "legacy" });
  const { structured } = await server.call("search", { query: "Who calls whom?" });
  verdict.check(`the first level: ${JSON.stringify(structured)}`, structured["success"] === true);
  const again = readFileSync(file, "utf8").trimEnd().split("\n");
  verdict.check(`${again.length} commands, once each`, again.length === COMMANDS.length);
  for (const line of again) verdict.check(line, JSON.parse(line).status === 1 && !line.includes("Stand-in report"));
  verdict.check(`${scene.children().length} children`, scene.children().length === 1);
  await scene.expectNothingLeft();
  return verdict;
}
