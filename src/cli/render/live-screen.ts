/**
 * Draws on the alternate screen of the terminal, which restores the previous content at the end. Lines drawn on the
 * normal screen would leave remains whenever the window is resized.
 */

export interface LiveScreen {
  /** Draws in one write, so that the terminal never shows half of it. */
  draw(lines: string[]): void;
  /** Writes text that stays: once the previous screen is restored. */
  keep(text: string): void;
  /** Restores screen and cursor; the next draw() takes them again. */
  end(): void;
}

const OPEN = "\u001B[?1049h\u001B[?25l";
const CLOSE = "\u001B[?25h\u001B[?1049l";
const TO_TOP = "\u001B[H";
const ERASE_LINE_END = "\u001B[K";
const ERASE_BELOW = "\u001B[J";

export function createLiveScreen(stream: Pick<NodeJS.WriteStream, "write">): LiveScreen {
  let kept = "";
  let open = false;
  const end = (): void => {
    if (!open) return;
    open = false;
    process.off("exit", end);
    stream.write(CLOSE + kept);
    kept = "";
  };
  return {
    draw: (lines) => {
      // Restores the screen even after an uncaught error; writes to a terminal are synchronous.
      if (!open) process.on("exit", end);
      const opening = open ? "" : OPEN;
      open = true;
      stream.write(`${opening}${TO_TOP}${lines.map((line) => line + ERASE_LINE_END).join("\r\n")}${ERASE_BELOW}`);
    },
    keep: (text) => {
      if (open) kept += text;
      else stream.write(text);
    },
    end,
  };
}
