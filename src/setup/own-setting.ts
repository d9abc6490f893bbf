/** Adds a setting to our own config.json as text, so that comments, order and other keys stay. */

import { chmod } from "node:fs/promises";
import { readConfigFile, replaceConfigFile } from "./config-file.ts";
import { withTopLevelValue } from "./json-entry.ts";

const PRIVATE_MODE = 0o600;

export interface OwnSetting {
  file: string;
  name: string;
  value: boolean;
}

/** Throws if the file cannot be read. */
export async function isSet({ file, name }: Pick<OwnSetting, "file" | "name">): Promise<boolean> {
  return withTopLevelValue(await readConfigFile(file, PRIVATE_MODE), [name, true], { replace: false }) === undefined;
}

/** False if the setting exists already; it is not changed. */
export async function setOnce({ file, name, value }: OwnSetting): Promise<boolean> {
  const config = await readConfigFile(file, PRIVATE_MODE);
  const text = withTopLevelValue(config, [name, value], { replace: false });
  if (text === undefined) return false;
  await replaceConfigFile(config, text, { now: new Date(), withoutBackup: true });
  return true;
}

/** Replaces an earlier value. The file is made private before the secret is in it. */
export async function setSecret({ file, name, value }: { file: string; name: string; value: string }): Promise<void> {
  const config = await readConfigFile(file, PRIVATE_MODE);
  const text = withTopLevelValue(config, [name, value], { replace: true }) ?? config.text;
  if (config.bytes !== undefined && process.platform !== "win32") await chmod(config.target, PRIVATE_MODE);
  await replaceConfigFile({ ...config, mode: PRIVATE_MODE }, text, { now: new Date(), withoutBackup: true });
}
