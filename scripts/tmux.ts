/** Drives a real terminal without a window through tmux: typing, resizing and reading the screen. */

import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface TerminalOptions {
  env: Record<string, string>;
  columns: number;
  rows: number;
  /** Commands that the shell runs first. */
  setup?: string;
}

export interface Terminal {
  /** Types a line and presses Enter. */
  type(line: string): Promise<void>;
  /** Types without pressing Enter. */
  typeKeys(text: string): Promise<void>;
  /** Presses a key by its tmux name, such as `C-c` or `Enter`. */
  key(name: string): Promise<void>;
  resize(columns: number, rows: number): Promise<void>;
  /** The visible lines; with `colors`, including colour sequences. */
  screen(options?: { colors?: boolean }): Promise<string[]>;
  /** Reads a tmux variable of the pane, such as `cursor_flag`. */
  readVariable(name: string): Promise<string>;
  /** All bytes that the programs have written so far. */
  raw(): string;
  close(): Promise<void>;
}

export async function openTerminal({ env, columns, rows, setup = "" }: TerminalOptions): Promise<Terminal> {
  const folder = mkdtempSync(join(tmpdir(), "gemini-search-terminal-"));
  const rawFile = join(folder, "raw");
  const setupFile = join(folder, "setup");
  writeFileSync(rawFile, "");
  // The shell would write its history into the home directory after the test has ended.
  writeFileSync(setupFile, `unset HISTFILE\nPS1='$ '\nbind 'set enable-bracketed-paste off' 2>/dev/null\n${setup}\n`);
  const tmux = async (...args: string[]): Promise<string> => {
    const { stdout } = await run("tmux", ["-S", join(folder, "socket"), "-f", "/dev/null", "-u", ...args], {
      env: { ...env, LC_ALL: "C.UTF-8" },
    });
    return stdout;
  };
  const size = ["-x", String(columns), "-y", String(rows)];
  await tmux("new-session", "-d", ...size, "bash", "--noprofile", "--rcfile", setupFile, "-i");
  await tmux("set-option", "-g", "status", "off");
  await tmux("set-option", "-g", "window-size", "manual");
  await tmux("resize-window", ...size);
  await tmux("pipe-pane", "-o", `cat >> '${rawFile}'`);
  return {
    type: async (line) => {
      await tmux("send-keys", "-l", "--", line);
      await tmux("send-keys", "Enter");
    },
    typeKeys: async (text) => void (await tmux("send-keys", "-l", "--", text)),
    key: async (name) => void (await tmux("send-keys", name)),
    resize: async (width, height) => void (await tmux("resize-window", "-x", String(width), "-y", String(height))),
    screen: async ({ colors = false } = {}) =>
      (await tmux("capture-pane", "-p", ...(colors ? ["-e"] : []))).replace(/\n$/, "").split("\n"),
    readVariable: async (name) => (await tmux("display-message", "-p", `#{${name}}`)).trim(),
    raw: () => readFileSync(rawFile, "utf8"),
    close: async () => {
      await tmux("kill-server").catch(() => undefined);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
