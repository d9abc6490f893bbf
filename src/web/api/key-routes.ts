/** Routes for a server without a Gemini API key: whether one is missing, and saving the one that its user enters. */

import type { Context, Hono } from "hono";
import type { App } from "../../app.ts";
import { type CallerEnv, LOCAL_OWNER } from "../../caller.ts";
import { keyFile, saveKey, testKey } from "../../doctor/key.ts";
import { AppError } from "../../errors.ts";
import type { KeyView } from "../wire.ts";
import { jsonResponse, readJsonBody } from "./json.ts";

export interface KeyEntry {
  /** From a browser on this machine, with no proxy between, through which other machines would come. */
  isLocal: (context: Context) => boolean;
  /** Reads the settings again, so that the saved key is used. */
  restart: () => Promise<void>;
}

/** A key is sent as a header. */
const KEY = /^[!-~]{10,200}$/;

export function serveKey(web: Hono<CallerEnv>, { config, deps }: App, { isLocal, restart }: KeyEntry): void {
  const isMissing = async (): Promise<boolean> =>
    config.settings.GEMINI_API_KEY === undefined && !config.vertex && (await deps.searchObstacle()) !== undefined;
  const mayEnter = (context: Context<CallerEnv>): boolean =>
    config.configDirWritable && context.get("caller").owner === LOCAL_OWNER && isLocal(context);
  let isTesting = false;
  let isSaved = false;
  web.get("/api/key", async (context) => {
    const mayBeEntered = mayEnter(context);
    const file = mayBeEntered ? keyFile(config).replace(config.home, "~") : undefined;
    return jsonResponse({ is_missing: await isMissing(), file } satisfies KeyView);
  });
  web.post("/api/key", async (context) => {
    if (!mayEnter(context)) throw notHere();
    const { key: given, untested } = await readJsonBody(context.req.raw);
    if (isTesting) throw refused("Another key is being tested.", "BUSY");
    const key = typeof given === "string" ? given.trim() : "";
    if (!KEY.test(key)) throw refused("This is not an API key. Copy it as Google shows it.");
    isTesting = true;
    try {
      // A key that works is never replaced: only the environment or the file itself can do that.
      if (isSaved || !(await isMissing())) throw refused("This server has a key already. Reload the page.");
      const { verdict, message } = await testKey(key, config, deps.clock.now);
      if (verdict === "rejected") throw refused(message);
      if (verdict === "unknown" && untested !== true) throw refused(message, "GEMINI_UNAVAILABLE");
      await saveKey(key, config);
      isSaved = true;
      await restart();
    } finally {
      isTesting = false;
    }
    return jsonResponse({ is_missing: false } satisfies KeyView);
  });
}

const notHere = (): AppError =>
  new AppError({
    code: "PERMISSION_DENIED",
    message: "The key can be entered only in a browser on the machine of the server.",
  });

/** Never with the key itself. */
const refused = (message: string, code: "INVALID_INPUT" | "BUSY" | "GEMINI_UNAVAILABLE" = "INVALID_INPUT"): AppError =>
  new AppError({ code, message });
