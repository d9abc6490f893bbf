/** The server's own token: from the settings, or from a file that the first server to start creates. */

import { chmod, link, open, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import { AppError } from "../../errors.ts";
import type { Log } from "../../platform/log.ts";
import { isStrongToken, newToken } from "./tokens.ts";
import { errorCodeOf } from "../../platform/error-code.ts";

export interface TokenSource {
  config: Pick<Config, "configDir" | "configDirWritable"> & { settings: { MCP_AUTH_TOKEN: string | undefined } };
  log: Log;
}

export async function localToken({ config, log }: TokenSource): Promise<string> {
  const { MCP_AUTH_TOKEN: given } = config.settings;
  if (given !== undefined) return checked(given);
  const file = join(config.configDir, "token");
  const kept = await readToken(file, log);
  if (kept !== undefined) {
    log.announce(`The access token is in ${file}.`);
    return kept;
  }
  const token = newToken();
  if (config.configDirWritable) {
    const result = await createTokenFile(file, token);
    if (result === "created") {
      log.announce(`Access token: ${token}\nSaved in ${file}; shown only once.`);
      return token;
    }
    // Another server was faster: its token counts.
    const existing = result === "exists" ? await readToken(file, log) : undefined;
    if (existing !== undefined) return existing;
  }
  log.warn(
    `Access token: ${token}\nValid until this server stops, because ${file} cannot be written. Make the config directory writable or set MCP_AUTH_TOKEN.`,
  );
  return token;
}

/** The token that a server of this installation requires, if it is known; none is created. */
export async function keptToken({ config, log }: TokenSource): Promise<string | undefined> {
  const { MCP_AUTH_TOKEN: given } = config.settings;
  return given === undefined ? readToken(join(config.configDir, "token"), log) : checked(given);
}

function checked(token: string): string {
  if (isStrongToken(token)) return token;
  throw new AppError({
    code: "INVALID_INPUT",
    message: "MCP_AUTH_TOKEN cannot be used: it needs 16 to 4096 characters, ASCII, without spaces.",
    suggestion: "Set a longer one, or unset it: then one is generated and saved in the config directory.",
  });
}

async function readToken(file: string, log: Log): Promise<string | undefined> {
  let content: string;
  try {
    content = await readFile(file, "utf8");
  } catch (error) {
    if (errorCodeOf(error) === "ENOENT") return undefined;
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
      message: `The token file ${file} contains no usable token: it needs 16 to 4096 characters, ASCII, without spaces.`,
      suggestion: "Delete it: the next start creates a new one.",
    });
  }
  await makePrivate(file, log);
  return token;
}

/** Windows has no such modes: there the user's own directory protects the file. */
async function makePrivate(file: string, log: Log): Promise<void> {
  if (process.platform === "win32") return;
  const { mode } = await stat(file);
  if ((mode & 0o077) === 0) return;
  const done = await chmod(file, 0o600).then(
    () => "It is private now, but anyone who has read it knows the token: delete the file to get a new one.",
    () => "It could not be made private.",
  );
  log.warn(`Other users of this machine could read the token file ${file}. ${done}`);
}

/** Written to a temporary file and then linked: the file is always complete, and only one process creates it. */
async function createTokenFile(file: string, token: string): Promise<"created" | "exists" | "failed"> {
  const temporary = `${file}.${crypto.randomUUID()}.tmp`;
  try {
    await writePrivateFile(temporary, token);
    await link(temporary, file).catch(async (error: unknown) => {
      // Some file systems have no hard links; there, exclusive creation has to suffice.
      if (errorCodeOf(error) === "EEXIST") throw error;
      await writePrivateFile(file, token);
    });
    return "created";
  } catch (error) {
    return errorCodeOf(error) === "EEXIST" ? "exists" : "failed";
  } finally {
    await rm(temporary, { force: true }).catch(() => undefined);
  }
}

async function writePrivateFile(file: string, token: string): Promise<void> {
  const handle = await open(file, "wx", 0o600);
  try {
    await handle.writeFile(`${token}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
