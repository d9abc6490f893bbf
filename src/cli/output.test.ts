import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { createLogLines, createProgressLine, wrappedFor, wrappedMessage } from "./output.ts";

/** A terminal that remembers what was written to it. */
function terminal(columns: number): { stream: NodeJS.WriteStream; written: () => string } {
  let text = "";
  const sink = new Writable({ write: (chunk, _encoding, done) => ((text += String(chunk)), done()) });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only these members are used
  const stream = Object.assign(sink, { isTTY: true, columns }) as unknown as NodeJS.WriteStream;
  return { stream, written: () => text };
}

const ERASE = "\r\u001B[2K";

test("a log line is written above the progress, which is erased before and redrawn after it", () => {
  const { stream, written } = terminal(40);
  const line = createProgressLine(stream);
  const log = createLogLines(stream, line.above);
  log.write("[WARN] before\n");
  line.show("Searching");
  log.write("[WARN] during\n");
  line.clear();
  log.write("[WARN] after\n");
  expect(written()).toBe(
    [
      "[WARN] before\n",
      `${ERASE}Searching (0 s)`,
      `${ERASE}[WARN] during\n`,
      `${ERASE}Searching (0 s)`,
      ERASE,
      "[WARN] after\n",
    ].join(""),
  );
});

test("a long log line breaks between words at a terminal, and JSON stays one line", () => {
  const { stream, written } = terminal(24);
  const log = createLogLines(stream);
  log.write("[WARN] Cleaned up many orphaned files.\n");
  log.write(`${JSON.stringify({ message: "a line that is longer than the terminal" })}\n`);
  expect(written()).toBe(
    '[WARN] Cleaned up many\n  orphaned files.\n{"message":"a line that is longer than the terminal"}\n',
  );
});

test("a message breaks between words and keeps its indentation, lines that fit, and commands", () => {
  expect(wrappedMessage("Read it:   show 3f2a9c1e\n  long enough to be wrapped in two", 30)).toBe(
    "Read it:   show 3f2a9c1e\n  long enough to be wrapped in\n  two",
  );
  expect(wrappedMessage("Try it again: gemsearch retry 3f2a9c1e --accept-possible-double-charge", 30)).toBe(
    "Try it again:\n  gemsearch retry 3f2a9c1e --accept-possible-double-charge",
  );
  expect(wrappedMessage("  Then: gemini-search-mcp serve --port 4100\n  gemini-search-mcp doctor --offline", 30)).toBe(
    "  Then:\n    gemini-search-mcp serve --port 4100\n  gemini-search-mcp doctor --offline",
  );
  expect(wrappedMessage("\u001B[31mSome words in red\u001B[39m, and more", 20)).toBe(
    "\u001B[31mSome words in red\u001B[39m,\nand more",
  );
});

test("a prompt breaks between words and keeps the space for the answer; elsewhere a text stays as it is (A11)", () => {
  const { stream } = terminal(30);
  const asked = wrappedFor(stream, "Start this research for about $1.70 (up to $4.10)? [y/N] ");
  expect(asked).toBe("Start this research for about\n$1.70 (up to $4.10)? [y/N] ");
  const pipe = Object.assign(terminal(30).stream, { isTTY: false });
  expect(wrappedFor(pipe, "x ".repeat(40))).toBe("x ".repeat(40));
});
