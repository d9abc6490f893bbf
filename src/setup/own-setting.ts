/** Adds a setting to our own config.json as text, so that comments, order and other keys stay. */

import { readConfigFile, replaceConfigFile } from "./config-file.ts";
import { type ConfigText, notReadable } from "./entry-format.ts";
import { withTopLevelValue } from "./json-entry.ts";

const PRIVATE_MODE = 0o600;

export interface OwnSetting {
  file: string;
  name: string;
  value: boolean;
}

/** Throws if the file cannot be read. */
export async function isSet({ file, name }: Pick<OwnSetting, "file" | "name">): Promise<boolean> {
  return edited(await readConfigFile(file, PRIVATE_MODE), [name, true]) === undefined;
}

/** False if the setting exists already; it is not changed. */
export async function setOnce({ file, name, value }: OwnSetting): Promise<boolean> {
  const config = await readConfigFile(file, PRIVATE_MODE);
  const text = edited(config, [name, value]);
  if (text === undefined) return false;
  await replaceConfigFile(config, text, { now: new Date(), withoutBackup: true });
  return true;
}

function edited(config: ConfigText, member: [string, boolean]): string | undefined {
  try {
    return withTopLevelValue(config, member);
  } catch (error) {
    // The parser recurses for each level.
    if (!(error instanceof RangeError)) throw error;
    throw notReadable({ file: config.file, problem: "It is nested too deeply." });
  }
}
