/**
 * A screen of its own that is drawn over again and again. The terminal keeps what stood there before and gives it back:
 * lines drawn among the others would stay behind whenever the window changes its size.
 */

export interface LiveScreen {
  /** One write: a terminal never shows half of it. */
  draw(lines: string[]): void;
  /** Text that is to stay; it is shown once the screen is given back. */
  keep(text: string): void;
  /** Gives back the screen and the cursor; drawing takes them again. */
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
      // Whatever ends the process, also what nobody foresaw: a terminal is written to at once.
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
