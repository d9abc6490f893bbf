/**
 * What a word of the command line can be, for shell completion, as `word<tab>description`. Nothing is written to stderr: it
 * would appear in the line that the user types.
 */

import { existsSync } from "node:fs";
import type { Command } from "commander";
import { LOCAL_OWNER } from "../caller.ts";
import { loadConfig } from "../config/config.ts";
import { readEnvironment } from "../config/environment.ts";
import { oneLine } from "../platform/clean-text.ts";
import { newestRuns } from "../runs/run-store.ts";
import { peek } from "../store/sqlite/sqlite.ts";
import { FILES } from "./completion-scripts.ts";
import { print } from "./output.ts";
import { cutToWidth } from "./render/text-width.ts";

type Candidate = readonly [word: string, about: string];

/** The last word is the one to complete; it may be empty. */
export async function printCompletions(program: Command, words: readonly string[]): Promise<void> {
  const current = words.at(-1) ?? "";
  const found = await candidatesFor(program, words).catch((): Candidate[] => []);
  const lines = found
    .filter(([word]) => word === FILES || word.startsWith(current))
    .map(([word, about]) => `${word}\t${about}`);
  if (lines.length > 0) await print(lines.join("\n"));
}

async function candidatesFor(program: Command, words: readonly string[]): Promise<Candidate[]> {
  const [current = "", previous] = words.toReversed();
  let command = program;
  for (const word of words.slice(0, -1)) {
    command = command.commands.find((one) => one.name() === word || one.aliases().includes(word)) ?? command;
  }
  const plain = (choices: readonly string[]): Candidate[] => choices.map((choice) => [choice, ""]);
  const valued = command.options.find(({ long, required, optional }) => long === previous && (required || optional));
  if (valued !== undefined) return plain(valued.argChoices ?? [FILES]);
  if (current.startsWith("-")) {
    const options = command.createHelp().visibleOptions(command);
    return options.map(({ long, short, description }) => [long ?? short ?? "", firstSentence(description)]);
  }
  const visible = new Set(command.createHelp().visibleCommands(command));
  const [argument] = command.registeredArguments;
  if (argument?.name() === "run") return newestIds();
  return [
    ...command.commands
      .filter((one) => visible.has(one))
      .map((one): Candidate => [one.name(), firstSentence(one.summary() || one.description())]),
    ...plain(argument?.argChoices ?? []),
  ];
}

const MAX_RUNS = 30;
const MAX_QUESTION_COLUMNS = 60;

async function newestIds(): Promise<Candidate[]> {
  const { databaseFile } = loadConfig({ environment: readEnvironment() });
  if (!existsSync(databaseFile)) return [];
  const runs = await peek(databaseFile, (db) => newestRuns(db, LOCAL_OWNER, MAX_RUNS));
  return runs.map(({ taskId, title, query }) => [taskId, cutToWidth(oneLine(title ?? query), MAX_QUESTION_COLUMNS)]);
}

const MAX_ABOUT_CHARACTERS = 70;

function firstSentence(text: string): string {
  const [sentence = ""] = text.replaceAll(/\s+/g, " ").split(/(?<=[.:;]) /);
  const whole = sentence.replace(/[.:;]$/, "");
  return whole.length <= MAX_ABOUT_CHARACTERS ? whole : `${whole.slice(0, MAX_ABOUT_CHARACTERS - 1).trimEnd()}…`;
}
