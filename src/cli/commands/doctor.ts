/** `doctor`: checks this installation and prints remedies. */

import { loadConfig } from "../../config/config.ts";
import { readEnvironment } from "../../config/environment.ts";
import type { CheckResult } from "../../doctor/check.ts";
import { examine } from "../../doctor/doctor.ts";
import { systemClock } from "../../platform/clock.ts";
import { countOf } from "../../platform/count.ts";
import { answerWidth, EXIT_CODES, print, printText } from "../output.ts";
import { shell } from "../render/answer-view.ts";
import { type Paint, paintFor } from "../render/paint.ts";
import { wrapToWidth } from "../render/words.ts";

export async function runDoctor({ json, online }: { json: boolean; online: boolean }): Promise<void> {
  const config = loadConfig({ environment: readEnvironment() });
  const checks = await examine({ config, now: systemClock.now, online });
  const healthy = checks.every(({ status }) => status !== "fail");
  const paint = paintFor(process.stdout);
  if (json) await print(JSON.stringify({ healthy, checks }, null, 2));
  else await printText(`${view(checks, answerWidth(), paint)}\n\n${conclusion(checks, { online, paint })}`);
  process.exitCode = healthy ? EXIT_CODES.ok : EXIT_CODES.failed;
}

function conclusion(checks: CheckResult[], { online, paint }: { online: boolean; paint: Paint }): string {
  const count = (status: CheckResult["status"]): number => checks.filter((check) => check.status === status).length;
  const warnings = count("warn") === 0 ? "" : countOf(count("warn"), "warning");
  if (count("fail") > 0) {
    const found = [countOf(count("fail"), "problem"), warnings].filter((part) => part !== "").join(" and ");
    return `${paint("bad", `${found}.`)} Fix what is marked "fail", then run again: ${shell("doctor")}`;
  }
  const skipped = online ? "" : " (The network was not checked.)";
  if (warnings !== "") return `${paint("good", "Ready to use,")} with ${warnings}.${skipped}`;
  return `${paint("good", "Everything works.")}${skipped} Try: ${shell('search "What is the newest LTS version of Node.js?"')}`;
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
