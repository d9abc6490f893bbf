/** A Gemini API key that a user has entered: tested at Google, and saved in our own config.json. */

import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { KEY_PAGE } from "../gemini/failures.ts";
import { KEY_VARIABLE } from "../setup/clients.ts";
import { setSecret } from "../setup/own-setting.ts";
import { checkReach } from "./gemini.ts";

export interface KeyFinding {
  verdict: "works" | "rejected" | "unknown";
  message: string;
}

/** With the free request of `doctor`. */
export async function testKey(key: string, config: Config, now: () => number): Promise<KeyFinding> {
  const tested = { ...config, settings: { ...config.settings, [KEY_VARIABLE]: key } };
  const checks = await checkReach(tested, now);
  const about = checks.find(({ name }) => name === "key");
  if (about?.status === "ok") return { verdict: "works", message: "Your Gemini API key works." };
  if (about?.status === "fail") {
    return { verdict: "rejected", message: `Google rejects this key. Create a new one at ${KEY_PAGE}` };
  }
  const refusal = checks.find(({ name }) => name === "access");
  if (refusal !== undefined) return { verdict: "unknown", message: `${refusal.message} ${refusal.remedy ?? ""}` };
  const problem = about ?? checks.find(({ status }) => status === "fail");
  return { verdict: "unknown", message: `The key could not be tested. ${problem?.message ?? ""}`.trim() };
}

export const keyFile = ({ configDir }: Pick<Config, "configDir">): string => join(configDir, "config.json");

/** The file is readable only by its owner. Throws if it cannot be read or written. */
export const saveKey = (key: string, config: Pick<Config, "configDir">): Promise<void> =>
  setSecret({ file: keyFile(config), name: KEY_VARIABLE, value: key });
