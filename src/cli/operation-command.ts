/** Defines a command from an operation: its input fields become an argument and flags. */

import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import type { Environment } from "../config/environment.ts";
import type { Operation } from "../operations/operation.ts";
import type { TerminalView } from "./render/answer-view.ts";
import type { Confirmation } from "./confirm.ts";
import type { CommandCall } from "./run-operation.ts";
import { SETTINGS } from "../config/settings.ts";
import { flagOf, oldFlagOf } from "./flags.ts";
import { OPTIONAL_RUN, RUN_ARGUMENT } from "./run-name.ts";

/** The parts of an input schema from which flags are generated. */
const inputSchema = z.object({
  properties: z.record(
    z.string(),
    z.object({
      type: z.string().optional(),
      items: z.object({ type: z.string().optional() }).optional(),
      enum: z.array(z.string()).optional(),
      default: z.unknown().optional(),
      maximum: z.number().optional(),
    }),
  ),
});
type Property = z.infer<typeof inputSchema>["properties"][string];

interface Preset {
  about: string;
  field: string;
  value: string;
}

/** An operation as a command. The texts of its flags are for people; those of the operation are for models. */
interface OperationCommand<Input extends z.ZodObject, Output> {
  /**
   * For each field of the input, apart from the run, what its argument or flag does. The text of a negated flag describes
   * what that flag does.
   */
  fields: Record<Exclude<keyof z.input<Input> & string, "task_id">, string>;
  /** The run is its first argument, before the question. */
  runFirst?: boolean;
  /** Without a run, it is the newest. */
  isRunOptional?: boolean;
  /** A field whose words are also taken without its flag, which is then not listed. */
  words?: keyof z.input<Input> & string;
  /** For a field, what is typed for each of its values. The values are accepted, too. */
  choices?: Partial<Record<keyof z.input<Input> & string, Choices>>;
  /** Flags that stand for the value of a field. */
  presets?: Readonly<Record<string, Preset>>;
  /** Waits for the end of the run by default when it is typed at a terminal. */
  waitsOnTerminal?: boolean;
  /** Asks before the operation, unless `--yes` is given. */
  confirm?: Confirmation;
  view: TerminalView<Output>;
  /** Runs the command instead of the operation alone. */
  run?: (call: CommandCall<Output>) => Promise<void>;
}

/**
 * An option with the schema of a setting. A wrong value is an error, where a wrong variable falls back to its default.
 */
export function settingOption(
  { schema, about, wrong = "This value is not allowed." }: { schema: () => z.ZodType; about: string; wrong?: string },
  flags: string,
): Option {
  const accepted = schema();
  if (accepted instanceof z.ZodEnum) return new Option(flags, about).choices(accepted.options.map(String));
  return new Option(flags, about).argParser((text: string) => {
    if (!accepted.safeParse(text).success) throw new InvalidArgumentError(wrong);
    return text;
  });
}

/** Words of people for the values of an option. */
export type Choices = Readonly<Record<string, string>>;

/** The option takes the words, and lists them; the values that they stand for are what scripts may have. */
export function worded(option: Option, words: Choices): Option {
  const listed = Object.keys(words);
  const values = [...(option.argChoices ?? []), ...Object.values(words)];
  return option.choices(listed).argParser((text: string) => {
    if (Object.hasOwn(words, text)) return words[text];
    if (values.includes(text)) return text;
    throw new InvalidArgumentError(`Allowed choices are ${listed.join(", ")}.`);
  });
}

export const operationCommand =
  <Input extends z.ZodObject, Output extends Record<string, unknown>>(
    operation: Operation<Input, Output>,
    definition: OperationCommand<Input, Output>,
  ) =>
  (command: Command): void => {
    const { properties } = inputSchema.parse(z.toJSONSchema(operation.input, { io: "input" }));
    const texts: Readonly<Record<string, string>> = { ...definition.fields, task_id: RUN_ARGUMENT };
    for (const [name, property] of Object.entries(properties)) {
      const about = texts[name] ?? "";
      if (isArgument(name, operation, definition)) command.addArgument(argumentFor(name, about, definition));
      else if (name === definition.words) {
        command.addArgument(new Argument("[words...]", about)).addOption(new Option(`--${name} <words>`).hideHelp());
      }
      // Its flags are those of every command that waits.
      else if (name !== operation.waitFlag) {
        const choices = definition.choices?.[name];
        const option = optionFor(flagOf(name), property, { name, about });
        command.addOption(choices === undefined ? option : worded(option, choices));
        const old = oldFlagOf(name);
        if (old !== undefined) command.addOption(optionFor(old, property, { name, about }).hideHelp());
      }
    }
    const presets = Object.entries(definition.presets ?? {});
    for (const [flag, { about, field }] of presets)
      command.addOption(new Option(`--${flag}`, about).conflicts(camel(flagOf(field))));
    if (operation.asksBackend === true) addSettingFlags(command);
    addCommonFlags(command, operation, definition);
    command.action(async (...values: unknown[]) => {
      const given = command.opts<Record<string, unknown>>();
      const named = Object.keys(properties).filter((name) => isArgument(name, operation, definition));
      const positional = Object.fromEntries(named.map((name, index) => [name, joined(values[index])]));
      const input = Object.fromEntries(
        Object.entries(properties).flatMap(([name, property]) => {
          const value = typed(given, [flagOf(name), oldFlagOf(name)], property);
          return value === undefined ? [] : [[name, value]];
        }),
      );
      const chosen = Object.fromEntries(
        presets.flatMap(([flag, { field, value }]) => (given[flag] === true ? [[field, value]] : [])),
      );
      const perform =
        definition.run ??
        (async (call: CommandCall<Output>) => (await import("./run-operation.ts")).runOperation(operation, call));
      await perform({
        input: { ...input, ...chosen, ...positional, ...wordsIn(definition, values[0]) },
        json: given["json"] === true,
        yes: given["yes"] === true,
        wait: waits(given, definition),
        isNotToWait: given["wait"] === false,
        flags: operation.asksBackend === true ? settingFlags(given) : {},
        confirm: definition.confirm,
        view: definition.view,
      });
    });
  };

/** By any of its flags. A flag that negates is false where it was typed, and true where it was not. */
const typed = (
  given: Record<string, unknown>,
  flags: readonly (string | undefined)[],
  { default: preset }: Property,
): unknown => {
  const values = flags.flatMap((flag) => (flag === undefined ? [] : [given[camel(flag)]]));
  return values.find((value) => value !== undefined && value !== preset) ?? values[0];
};

const wordsIn = ({ words }: { words?: string }, given: unknown): Record<string, string> =>
  words === undefined || !Array.isArray(given) || given.length === 0
    ? {}
    : { [words]: given.map((word) => asPhrase(String(word))).join(" ") };

/** Restores the user's quotation marks, which the shell has removed. */
const asPhrase = (word: string): string => (/\s/.test(word.trim()) && !word.includes('"') ? `"${word}"` : word);

/** The order of arguments is that of the input fields. */
const isArgument = (
  name: string,
  { positional }: Pick<Operation, "positional">,
  { runFirst = false }: { runFirst?: boolean },
): boolean => name === positional || (runFirst && name === "task_id");

function addCommonFlags(
  command: Command,
  { waitFlag, question }: Pick<Operation, "waitFlag" | "question">,
  { waitsOnTerminal = false, confirm }: { waitsOnTerminal?: boolean; confirm?: Confirmation },
): void {
  const waitText = waitsOnTerminal ? WAIT_TEXTS.wait : WAIT_TEXTS.waitOnRequest;
  if (waitFlag !== undefined) command.option(`--${waitFlag}`, waitText);
  if (waitsOnTerminal) command.option("--no-wait", WAIT_TEXTS.noWait);
  if (confirm !== undefined) command.option("--yes", "skip the confirmation");
  else if (question !== undefined) command.option("--yes", "skip the cost confirmation");
  command.option("--json", "print the whole answer as JSON");
}

/** The flags of commands that can wait for the end of a run. */
export const WAIT_TEXTS = {
  wait: "wait for the run, show progress, then print the report (default at a terminal)",
  waitOnRequest: "wait for the run, show progress, then print the report",
  noWait: "return as soon as the run is started (default in a pipe: wait for up to 30 s)",
};

function waits(given: Record<string, unknown>, { waitsOnTerminal = false }: { waitsOnTerminal?: boolean }): boolean {
  if (!waitsOnTerminal) return given["wait"] === true || given["watch"] === true;
  // With both flags declared, commander leaves the value undefined until one is given.
  if (typeof given["wait"] === "boolean") return given["wait"];
  return process.stdout.isTTY && process.stderr.isTTY && given["json"] !== true;
}

/** Words without quotation marks are one question. */
const joined = (value: unknown): unknown => (Array.isArray(value) ? value.join(" ") : value);

function argumentFor(name: string, about: string, { isRunOptional = false }: { isRunOptional?: boolean }): Argument {
  if (name !== "task_id") return new Argument("<question...>", `${about}; "-" reads it from stdin`);
  return isRunOptional ? new Argument("[run]", OPTIONAL_RUN) : new Argument("<run>", about);
}

interface OptionTexts {
  name: string;
  about: string;
}

function optionFor(flag: string, property: Property, { name, about }: OptionTexts): Option {
  if (property.type === "boolean") return new Option(property.default === true ? `--no-${flag}` : `--${flag}`, about);
  const option = new Option(`--${flag} <${placeholderFor(name, property)}>`, about);
  if (property.enum !== undefined) option.choices(property.enum);
  if (property.type === "integer") option.argParser((text: string) => wholeNumberIn(text, property));
  if (property.items?.type === "integer") {
    const numbersIn = (text: string): (number | string)[] =>
      text.split(",").map((part) => (/^\d+$/.test(part.trim()) ? Number(part) : part));
    option.argParser<(number | string)[]>((text, before) => [...(before ?? []), ...numbersIn(text)]);
  } else if (property.type === "array") {
    // A path or an address may contain a comma, a domain may not.
    const partsOf = (text: string): string[] => (name.endsWith("_domains") ? text.split(",") : [text]);
    option.argParser<string[]>((text, before) => [...(before ?? []), ...partsOf(text)]);
  }
  return option;
}

/**
 * What is not a number within the announced range stays text, which the operation rejects with an error about this range.
 * It lowers larger numbers for models, but a user who typed one must know.
 */
function wholeNumberIn(text: string, { maximum = Infinity }: Property): number | string {
  return /^-?\d+$/.test(text) && Number(text) <= maximum ? Number(text) : text;
}

function placeholderFor(name: string, { type, items }: Property): string {
  if (type === "integer" || items?.type === "integer") return "n";
  return name.endsWith("_domains") ? "list" : "value";
}

const FLAG_SETTINGS = Object.entries(SETTINGS).flatMap(([name, setting]) =>
  "flag" in setting && setting.flag !== undefined ? [{ name, flag: setting.flag, setting }] : [],
);

function addSettingFlags(command: Command): void {
  for (const { flag, setting } of FLAG_SETTINGS) command.addOption(settingOption(setting, `--${flag} <value>`));
}

const settingFlags = (given: Record<string, unknown>): Environment =>
  Object.fromEntries(FLAG_SETTINGS.map(({ name, flag }) => [name, given[flag]?.toString()]));

const camel = (name: string): string => name.replaceAll(/[_-](\w)/g, (_whole, letter: string) => letter.toUpperCase());
