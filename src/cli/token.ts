/** Who else may use a server over HTTP: tokens are added, listed and revoked from the terminal. */

import { createApp } from "../app.ts";
import { AppError } from "../errors.ts";
import { addToken, listTokens, revokeToken, type TokenEntry } from "../http/token-store.ts";
import { isoTime, systemClock } from "../platform/clock.ts";
import { leaveOnSignals } from "../platform/shutdown.ts";
import type { Database } from "../store/database.ts";
import { openStore } from "../store/store.ts";
import { print, printFailure } from "./output.ts";
import { EXIT_CODES } from "./run-operation.ts";

interface Answer {
  structured: Record<string, unknown>;
  text: string;
  /** Said beside the answer, so that a script gets the answer alone. */
  remark?: string;
}

export const addNamedToken = (name: string, { json }: { json: boolean }): Promise<void> =>
  answer(json, async (db, now) => {
    const token = await addToken(db, { name, now });
    const remark = `This is the token of ${name}. It is not stored and cannot be shown again.`;
    return { structured: { success: true, name, token, created_at: isoTime(now) }, text: token, remark };
  });

export const listNamedTokens = ({ json }: { json: boolean }): Promise<void> =>
  answer(json, async (db) => {
    const tokens = (await listTokens(db)).map(shown);
    return {
      structured: { success: true, tokens },
      text: tokens.length === 0 ? "There are no tokens." : table(tokens),
    };
  });

export const revokeNamedToken = (name: string, { json }: { json: boolean }): Promise<void> =>
  answer(json, async (db, now) => {
    await revokeToken(db, { name, now });
    const text = `The token of ${name} is revoked. Its runs are kept.`;
    return { structured: { success: true, name, revoked_at: isoTime(now) }, text };
  });

type ShownToken = ReturnType<typeof shown>;

const shown = ({ name, createdAt, lastUsedAt, revokedAt }: TokenEntry) => ({
  name,
  created_at: isoTime(createdAt),
  last_used_at: lastUsedAt === undefined ? null : isoTime(lastUsedAt),
  revoked_at: revokedAt === undefined ? null : isoTime(revokedAt),
});

function table(tokens: ShownToken[]): string {
  const rows = [
    ["NAME", "CREATED", "LAST USED", "REVOKED"],
    ...tokens.map((token) => [token.name, token.created_at, token.last_used_at ?? "never", token.revoked_at ?? "no"]),
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

async function answer(json: boolean, act: (db: Database, now: number) => Promise<Answer>): Promise<void> {
  const { config, log, shutdown } = createApp({ logFrom: "WARN" });
  leaveOnSignals(shutdown, () => EXIT_CODES.interrupted);
  // `| head` closes our stdout early; that is not an error.
  process.stdout.on("error", () => void shutdown.leave(EXIT_CODES.ok));
  try {
    const file = config.configDirWritable ? config.databaseFile : undefined;
    const store = await openStore({ file, clock: systemClock, log });
    shutdown.finally(store.close);
    if (!store.durable) throw notKept();
    const { structured, text, remark } = await shutdown.during(act(store.db, systemClock.now()));
    if (remark !== undefined) await printFailure(remark);
    await print(json ? JSON.stringify(structured, null, 2) : text);
    await shutdown.leave(EXIT_CODES.ok);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { code, message, suggestion } = error;
    await printFailure([`${code}: ${message}`, suggestion ?? ""].join("\n").trim());
    if (json) await print(JSON.stringify({ success: false, error: { code, message, suggestion } }, null, 2));
    await shutdown.leave(code === "INVALID_INPUT" ? EXIT_CODES.usage : EXIT_CODES.failed);
  }
}

const notKept = (): AppError =>
  new AppError({
    code: "SQLITE_ERROR",
    message: "Tokens are kept in the database, and that cannot be written.",
    suggestion: "Check the config directory and its permissions, or set GEMINI_SEARCH_CONFIG_DIR.",
  });
