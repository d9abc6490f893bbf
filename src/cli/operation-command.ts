/** Creates a command from an operation: its input fields become an argument and flags. */

import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import type { Environment } from "../config/config.ts";
import type { Operation } from "../operations/operation.ts";
import type { TerminalView } from "./render/answer-view.ts";
import { SETTINGS } from "../config/settings.ts";

/** The parts of an input schema from which flags are generated. */
const inputSchema = z.object({
  properties: z.record(
    z.string(),
    z.object({
      type: z.string().optional(),
      enum: z.array(z.string()).optional(),
      default: z.unknown().optional(),
      description: z.string().default(""),
    }),
  ),
});
type Property = z.infer<typeof inputSchema>["properties"][string];

/** An option with the schema of a setting. A wrong value is an error, where a wrong variable falls back to its default. */
export function settingOption({ schema, about }: { schema: z.ZodType; about: string }, flags: string): Option {
  if (schema instanceof z.ZodEnum) return new Option(flags, about).choices(schema.options.map(String));
  return new Option(flags, about).argParser((text: string) => {
    if (!schema.safeParse(text).success) throw new InvalidArgumentError("It is not a possible value.");
    return text;
  });
}

export function addOperation<Output extends Record<string, unknown>>(
  program: Command,
  operation: Operation<z.ZodObject, Output>,
  view?: TerminalView<Output>,
): void {
  const { properties } = inputSchema.parse(z.toJSONSchema(operation.input, { io: "input" }));
  const command = program
    .command(kebab(operation.name))
    .summary(operation.title)
    .description(operation.description)
    .exitOverride();
  for (const [name, property] of Object.entries(properties)) {
    if (name === operation.positional) {
      command.addArgument(new Argument(`<${kebab(name)}>`, `${property.description} "-" reads it from stdin.`));
    } else {
      command.addOption(optionFor(name, property));
    }
  }
  if (operation.asksBackend === true) addSettingFlags(command);
  const { waitFlag } = operation;
  if (waitFlag !== undefined)
    command.option(`--${waitFlag}`, "stay until the run ends, show its progress, print its report");
  if (operation.question !== undefined) command.option("--yes", "agree to the cost beforehand: nothing is asked");
  command.option("--json", "print the whole answer as JSON");
  command.action(async (...values: unknown[]) => {
    const given = command.opts<Record<string, unknown>>();
    const positional = operation.positional === undefined ? {} : { [operation.positional]: values[0] };
    const input = Object.fromEntries(
      Object.keys(properties).flatMap((name) => {
        const value = given[camel(name)];
        return value === undefined ? [] : [[name, value]];
      }),
    );
    const { runOperation } = await import("./run-operation.ts");
    await runOperation(operation, {
      input: { ...input, ...positional },
      json: given["json"] === true,
      yes: given["yes"] === true,
      wait: waitFlag !== undefined && given[waitFlag] === true,
      flags: operation.asksBackend === true ? settingFlags(given) : {},
      view,
    });
  });
}

function optionFor(name: string, property: Property): Option {
  const flag = kebab(name);
  const about = property.description;
  if (property.type === "boolean") return new Option(property.default === true ? `--no-${flag}` : `--${flag}`, about);
  const option = new Option(`--${flag} <${property.type === "integer" ? "n" : "value"}>`, about);
  if (property.enum !== undefined) option.choices(property.enum);
  if (property.type === "integer") option.argParser((text: string) => (/^-?\d+$/.test(text) ? Number(text) : text));
  return option;
}

const FLAG_SETTINGS = Object.entries(SETTINGS).flatMap(([name, setting]) =>
  "flag" in setting && setting.flag !== undefined ? [{ name, flag: setting.flag, setting }] : [],
);

function addSettingFlags(command: Command): void {
  for (const { flag, setting } of FLAG_SETTINGS) command.addOption(settingOption(setting, `--${flag} <value>`));
}

const settingFlags = (given: Record<string, unknown>): Environment =>
  Object.fromEntries(FLAG_SETTINGS.map(({ name, flag }) => [name, given[flag]?.toString()]));

const kebab = (name: string): string => name.replaceAll("_", "-");
const camel = (name: string): string => name.replaceAll(/_(\w)/g, (_whole, letter: string) => letter.toUpperCase());
