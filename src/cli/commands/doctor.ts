/** `doctor`: checks this installation and prints remedies. */

import { loadConfig, readEnvironment } from "../../config/config.ts";
import type { CheckResult } from "../../doctor/check.ts";
import { examine } from "../../doctor/doctor.ts";
import { systemClock } from "../../platform/clock.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import { answerWidth, print } from "../output.ts";
import { type Paint, paintFor } from "../render/paint.ts";
import { wrapToWidth } from "../render/text-width.ts";

export async function runDoctor({ json, online }: { json: boolean; online: boolean }): Promise<void> {
  const config = loadConfig({ environment: readEnvironment() });
  const checks = await examine({ config, now: systemClock.now, online });
  const healthy = checks.every(({ status }) => status !== "fail");
  await print(
    json ? JSON.stringify({ healthy, checks }, null, 2) : view(checks, answerWidth(), paintFor(process.stdout)),
  );
  process.exitCode = healthy ? EXIT_CODES.ok : EXIT_CODES.failed;
}

const MARKS = { ok: "good", warn: "careful", fail: "bad" } as const;
const INDENT = 6;

/** Wrapped on a terminal; one line per check and remedy elsewhere. */
function view(checks: CheckResult[], width: number | undefined, paint: Paint): string {
  return checks.flatMap((check) => lines(check, width ?? Number.POSITIVE_INFINITY, paint)).join("\n");
}

function lines({ status, name, message, remedy }: CheckResult, width: number, paint: Paint): string[] {
  const room = Math.min(width, 100) - INDENT;
  const wrap = (text: string): string[] => (width === Number.POSITIVE_INFINITY ? [text] : wrapToWidth(text, room));
  const [first = "", ...rest] = wrap(`${name}: ${message}`);
  const remedyLines = remedy === undefined ? [] : wrap(`→ ${remedy}`);
  return [
    `${paint(MARKS[status], status.padEnd(4))}  ${first}`,
    ...[...rest, ...remedyLines].map((line) => " ".repeat(INDENT) + line),
  ];
}
