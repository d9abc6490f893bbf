/** The supported MCP clients, and which of them are installed. */

import { existsSync } from "node:fs";
import { findProgram } from "../platform/find-program.ts";
import { claudeCode, claudeDesktop } from "./clients/claude.ts";
import type { Client } from "./clients/client.ts";
import { codex } from "./clients/codex.ts";
import { cursor, vscode, windsurf, zed } from "./clients/editors.ts";
import { antigravity, geminiCli } from "./clients/google.ts";
import { lmStudio } from "./clients/lm-studio.ts";
import { openCode } from "./clients/open-code.ts";
import type { Paths } from "./paths.ts";

export const CLIENTS: readonly Client[] = [
  claudeCode,
  claudeDesktop,
  cursor,
  vscode,
  codex,
  geminiCli,
  antigravity,
  openCode,
  windsurf,
  zed,
  lmStudio,
];

/** The suffixes with which Windows starts a program by its name. */
const SUFFIXES = { win32: [".exe", ".cmd", ".bat"] } as Partial<Record<NodeJS.Platform, string[]>>;

/** The path of a program that a user can start by this name. */
export const programOnPath = (name: string, { environment, platform }: Paths): string | undefined =>
  (SUFFIXES[platform] ?? [""])
    .map((suffix) => findProgram(name + suffix, environment, platform))
    .find((file) => file !== undefined);

export const installedClients = (paths: Paths): Client[] =>
  CLIENTS.filter(
    ({ traces, programs }) =>
      traces(paths).some((trace) => existsSync(trace)) ||
      programs.some((program) => programOnPath(program, paths) !== undefined),
  );
