/** Where an API key comes from: the environment of this process, or our config.json. */

import { type Config, loadConfig } from "../../config/config.ts";
import { KEY_VARIABLE } from "../../setup/clients.ts";

export const isKeyInEnvironment = ({ environment }: Config): boolean =>
  [KEY_VARIABLE, "GOOGLE_API_KEY"].some((name) => (environment[name] ?? "").trim() !== "");

/** Whether our config.json has a key, whatever the environment has. */
export function isKeySaved({ environment }: Config): boolean {
  const { settings } = loadConfig({ environment: { ...environment, [KEY_VARIABLE]: "", GOOGLE_API_KEY: "" } });
  return settings.GEMINI_API_KEY !== undefined;
}
