/** The running server of a config directory, recorded there so that `open` finds it on any port. */

import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Config } from "../config/config.ts";
import { liveness, thisProcess } from "../platform/process-identity.ts";
import { replaceFile } from "../platform/replace-file.ts";

type Directory = Pick<Config, "configDir" | "configDirWritable">;

const serverRecord = z.object({
  url: z.url({ protocol: /^http$/ }),
  pid: z.int(),
  host: z.string(),
  startMark: z.string().nullable(),
});

const fileIn = ({ configDir }: Directory): string => join(configDir, "server.json");

/** `url`: where a browser finds it. The last server to start is recorded. */
export async function recordServer(directory: Directory, url: string): Promise<void> {
  if (!directory.configDirWritable) return;
  const { pid, host, startMark } = thisProcess();
  await replaceFile(fileIn(directory), `${JSON.stringify({ url, pid, host, startMark })}\n`, { mode: 0o600 });
}

/** Leaves the record of another process. */
export async function removeServerRecord(directory: Directory): Promise<void> {
  const record = await readRecord(directory);
  if (record?.pid === process.pid) await rm(fileIn(directory), { force: true }).catch(() => undefined);
}

/**
 * The address of the recorded server, unless its process is gone or on another machine, where the directory is shared.
 * Whether it answers is for the caller to find out.
 */
export async function recordedServer(directory: Directory): Promise<string | undefined> {
  const record = await readRecord(directory);
  const isHere = record?.host === thisProcess().host && liveness(record) !== "dead";
  return isHere ? record.url : undefined;
}

/** Undefined also for a damaged file: then the configured address counts. */
const readRecord = (directory: Directory): Promise<z.infer<typeof serverRecord> | undefined> =>
  readFile(fileIn(directory), "utf8")
    .then((text) => serverRecord.parse(JSON.parse(text)))
    .catch(() => undefined);
