/** The server's own token: from the settings, else from a file that the first server to start has made. */

import { chmod, link, open, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import { AppError } from "../../errors.ts";
import type { Log } from "../../platform/log.ts";
import { isStrongToken, newToken } from "./tokens.ts";

export interface TokenPlace {
  config: Pick<Config, "configDir" | "configDirWritable"> & { settings: { MCP_AUTH_TOKEN: string | undefined } };
  log: Log;
}

export async function localToken({ config, log }: TokenPlace): Promise<string> {
  const { MCP_AUTH_TOKEN: given } = config.settings;
  if (given !== undefined) return checked(given);
  const file = join(config.configDir, "token");
  const kept = await readToken(file, log);
  if (kept !== undefined) {
    log.info(`The token of this server is kept in ${file}.`);
    return kept;
  }
  const token = newToken();
  if (config.configDirWritable) {
    const made = await makeFile(file, token);
    if (made === "made") {
      log.info(`The token of this server: ${token}\nIt is kept in ${file} and not shown again.`);
      return token;
    }
    // Another server was first: its token is the token.
    const theirs = made === "taken" ? await readToken(file, log) : undefined;
    if (theirs !== undefined) return theirs;
  }
  log.warn(
    `The token of this server: ${token}\nIt is good until this server ends, because ${file} cannot be written. Make the config directory writable or set MCP_AUTH_TOKEN.`,
  );
  return token;
}

/** The token that a server of this installation asks for, as far as it is known; none is made. */
export async function keptToken({ config, log }: TokenPlace): Promise<string | undefined> {
  const { MCP_AUTH_TOKEN: given } = config.settings;
  return given === undefined ? readToken(join(config.configDir, "token"), log) : checked(given);
}

function checked(token: string): string {
  if (isStrongToken(token)) return token;
  throw new AppError({
    code: "INVALID_INPUT",
    message: "MCP_AUTH_TOKEN cannot be used: it needs 16 to 4096 characters, ASCII, without spaces.",
    suggestion: "Set a longer one, or unset it: then a token is made and kept in the config directory.",
  });
}

async function readToken(file: string, log: Log): Promise<string | undefined> {
  let content: string;
  try {
    content = await readFile(file, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw new AppError({
      code: "PERMISSION_DENIED",
      message: `The token file ${file} cannot be read.`,
      suggestion: "Make it readable for the user who runs the server, or set MCP_AUTH_TOKEN.",
      cause: error,
    });
  }
  const token = content.trim();
  if (!isStrongToken(token)) {
    throw new AppError({
      code: "INVALID_INPUT",
      message: `The token file ${file} holds no usable token: it needs 16 to 4096 characters, ASCII, without spaces.`,
      suggestion: "Delete it: the next start makes a new one.",
    });
  }
  await tighten(file, log);
  return token;
}

/** Windows has no such modes: there the user's own directory protects it. */
async function tighten(file: string, log: Log): Promise<void> {
  if (process.platform === "win32") return;
  const { mode } = await stat(file);
  if ((mode & 0o077) === 0) return;
  const done = await chmod(file, 0o600).then(
    () => "It is private now, but who has read it still knows the token: delete the file to get a new one.",
    () => "It could not be made private.",
  );
  log.warn(`Other users of this machine could read the token file ${file}. ${done}`);
}

/** Written aside and then named: whoever sees the name sees a whole token, and only one can give it. */
async function makeFile(file: string, token: string): Promise<"made" | "taken" | "impossible"> {
  const aside = `${file}.${crypto.randomUUID()}.tmp`;
  try {
    await writePrivate(aside, token);
    await link(aside, file).catch(async (error: unknown) => {
      // Some file systems know no second name; there the exclusive opening has to do.
      if (codeOf(error) === "EEXIST") throw error;
      await writePrivate(file, token);
    });
    return "made";
  } catch (error) {
    return codeOf(error) === "EEXIST" ? "taken" : "impossible";
  } finally {
    await rm(aside, { force: true }).catch(() => undefined);
  }
}

async function writePrivate(file: string, token: string): Promise<void> {
  const handle = await open(file, "wx", 0o600);
  try {
    await handle.writeFile(`${token}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
