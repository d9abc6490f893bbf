/** Describes commands, options and arguments for the completion scripts, read from the commands themselves. */

import type { Command, Option } from "commander";
import { commandsOf } from "../help.ts";

interface CompletedOption {
  /** `--status`. */
  flag: string;
  about: string;
  takesValue: boolean;
  /** Empty: any value. */
  choices: readonly string[];
}

export interface CompletedCommand {
  /** Command names separated by spaces; empty for the program itself. */
  path: string;
  about: string;
  options: CompletedOption[];
  /** What its first argument can be. */
  argument: { kind: "none" | "text" | "task" } | { kind: "choices"; choices: readonly string[] };
}

const MAX_ABOUT_CHARACTERS = 70;

export function completionSpec(program: Command): CompletedCommand[] {
  return [{ path: "", command: program }, ...commandsOf(program)].map(({ path, command }) => ({
    path,
    about: short(command.summary() || command.description()),
    options: command.createHelp().visibleOptions(command).map(optionOf),
    argument: argumentOf(command),
  }));
}

const optionOf = (option: Option): CompletedOption => ({
  flag: option.long ?? option.short ?? "",
  about: short(option.description),
  takesValue: option.required || option.optional,
  choices: option.argChoices ?? [],
});

function argumentOf(command: Command): CompletedCommand["argument"] {
  const [first] = command.registeredArguments;
  if (first === undefined) return { kind: "none" };
  if (first.argChoices !== undefined) return { kind: "choices", choices: first.argChoices };
  return { kind: first.name() === "run" ? "task" : "text" };
}

/** The first sentence, cut to the length of a list entry. */
function short(text: string): string {
  const [sentence = ""] = text.replaceAll(/\s+/g, " ").split(/(?<=[.:;]) /);
  const whole = sentence.replace(/[.:;]$/, "");
  return whole.length <= MAX_ABOUT_CHARACTERS ? whole : `${whole.slice(0, MAX_ABOUT_CHARACTERS - 1).trimEnd()}…`;
}

export const subcommandsOf = (spec: CompletedCommand[], path: string): CompletedCommand[] =>
  spec.filter((command) => command.path !== "" && command.path.split(" ").slice(0, -1).join(" ") === path);

export const nameOf = ({ path }: CompletedCommand): string => path.split(" ").at(-1) ?? "";
