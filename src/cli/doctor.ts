/** `doctor`: looks over this installation and says what to do about what is wrong. */

import { loadConfig, readEnvironment } from "../config.ts";
import { examine } from "../doctor/doctor.ts";
import { systemClock } from "../platform/clock.ts";
import { print } from "./output.ts";
import { EXIT_CODES } from "./run-operation.ts";

export async function runDoctor({ json, online }: { json: boolean; online: boolean }): Promise<void> {
  const config = loadConfig({ environment: readEnvironment() });
  const checks = await examine({ config, now: systemClock.now, online });
  const healthy = checks.every(({ status }) => status !== "fail");
  await print(json ? JSON.stringify({ healthy, checks }, null, 2) : checks.map(line).join("\n"));
  process.exitCode = healthy ? EXIT_CODES.ok : EXIT_CODES.failed;
}

const line = ({ status, name, message, remedy }: Awaited<ReturnType<typeof examine>>[number]): string =>
  [`${status.padEnd(4)}  ${name}: ${message}`, ...(remedy === undefined ? [] : [`      → ${remedy}`])].join("\n");
