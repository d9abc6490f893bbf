/** A setting in our own config.json, put in as text so that comments, order and all other keys stay. */

import { readConfigFile, type Replaced, replaceConfigFile } from "./config-file.ts";
import { type ConfigText, notReadable } from "./entry-format.ts";
import { withTopLevelValue } from "./json-entry.ts";

const PRIVATE_MODE = 0o600;

export interface OwnSetting {
  file: string;
  name: string;
  value: boolean;
}

/** Whether it is set there. Throws where the file cannot be read. */
export async function isSet({ file, name }: Pick<OwnSetting, "file" | "name">): Promise<boolean> {
  return edited(await readConfigFile(file, PRIVATE_MODE), [name, true]) === undefined;
}

/** A value that another program has set meanwhile stays. */
export async function setOnce({ file, name, value }: OwnSetting): Promise<Replaced | undefined> {
  const config = await readConfigFile(file, PRIVATE_MODE);
  const text = edited(config, [name, value]);
  return text === undefined ? undefined : replaceConfigFile(config, text, { now: new Date() });
}

function edited(config: ConfigText, member: [string, boolean]): string | undefined {
  try {
    return withTopLevelValue(config, member);
  } catch (error) {
    // The parser calls itself for each level.
    if (!(error instanceof RangeError)) throw error;
    throw notReadable({ file: config.file, problem: "It is nested too deeply." });
  }
}
