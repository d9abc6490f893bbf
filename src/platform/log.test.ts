/** The form of log lines: level and message first, then the time and the run id. */

import { expect, test } from "vitest";
import { createLog, type LogOptions } from "./log.ts";

const RUN = "1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b";
const TIME = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;

function openLog(options: Partial<LogOptions> = {}) {
  const lines: string[] = [];
  const write = (line: string): void => void lines.push(line);
  const redact = (text: string): string => text.replaceAll("s3cret", "[KEY]");
  return { lines, log: createLog({ from: "INFO", format: "text", timestamps: true, redact, write, ...options }) };
}

test("a text line has its level and message first and its time last (A2)", () => {
  const { log, lines } = openLog();
  log.debug("left out");
  log.warn("Main search failed: s3cret.");
  expect(lines).toEqual([
    expect.stringMatching(new RegExp(`^\\[WARN\\] Main search failed: \\[KEY\\]\\. \\(${TIME}\\)\n$`)),
  ]);
});

test("a message of several lines has the time in its first line, the others are indented (A2)", () => {
  const { log, lines } = openLog();
  log.error("first\nsecond\r\nthird");
  expect(lines.join("")).toMatch(new RegExp(`^\\[ERROR\\] first \\(${TIME}\\)\n  second\n  third\n$`));
});

test("the log of a run has the run id in each line, once (A2)", () => {
  const { log, lines } = openLog();
  log.forRun(RUN).info("Deep search round 1/5...");
  log.forRun(RUN).info(`Run ${RUN}: stored.`);
  expect(lines[0]).toMatch(new RegExp(`^\\[INFO\\] Deep search round 1/5\\.\\.\\. \\(${TIME}, run ${RUN}\\)\n$`));
  expect(lines[1]).toMatch(new RegExp(`^\\[INFO\\] Run ${RUN}: stored\\. \\(${TIME}\\)\n$`));
});

test("without timestamps a line is its level and message (A2)", () => {
  const { log, lines } = openLog({ timestamps: false });
  log.forRun(RUN).warn("one\ntwo");
  expect(lines).toEqual(["[WARN] one\n  two\n"]);
});

test("a JSON line has time, level, message and run id in fields (A2)", () => {
  const { log, lines } = openLog({ format: "json" });
  log.forRun(RUN).info("one\ntwo");
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      time: expect.stringMatching(new RegExp(`^${TIME}$`)),
      level: "INFO",
      message: "one\ntwo",
      task_id: RUN,
    },
  ]);
});

test("an announcement is an INFO line of a log, and plain text for a person who sees no INFO lines", () => {
  const written: string[] = [];
  const write = (line: string): void => void written.push(line);
  const redact = (text: string): string => text.replaceAll("secret", "KEY");
  createLog({ from: "INFO", format: "text", redact, write }).announce("The key is secret.");
  createLog({ from: "WARN", format: "text", redact, write }).announce("Not shown.");
  createLog({ from: "WARN", format: "text", redact, write, showsAnnouncements: true }).announce(
    "The key is secret.\u0007",
  );
  expect(written).toEqual(["[INFO] The key is KEY.\n", "The key is KEY.\n"]);
});
