/** A view that takes the whole screen of a terminal, is redrawn every second and on resize, and restores it at its end. */

export interface LiveView {
  redraw(): void;
  /** Writes a log line that stays after the view has ended. */
  log(line: string): void;
  end(): void;
}

const REDRAW_MS = 1_000;

/** `linesOf` returns what fits the window; undefined: nothing is drawn yet. */
export function openLiveView(stream: NodeJS.WriteStream, linesOf: () => string[] | undefined): LiveView {
  const screen = createLiveScreen(stream);
  const redraw = (): void => {
    const lines = linesOf();
    if (lines !== undefined) screen.draw(lines);
  };
  const timer = setInterval(redraw, REDRAW_MS);
  const stop = (): void => {
    screen.end();
    process.kill(process.pid, "SIGSTOP");
  };
  stream.on("resize", redraw);
  // Ctrl-Z restores the terminal for the shell; `fg` redraws.
  process.on("SIGTSTP", stop).on("SIGCONT", redraw);
  return {
    redraw,
    log: screen.keep,
    end: () => {
      clearInterval(timer);
      stream.off("resize", redraw);
      process.off("SIGTSTP", stop).off("SIGCONT", redraw);
      screen.end();
    },
  };
}

interface LiveScreen {
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

function createLiveScreen(stream: Pick<NodeJS.WriteStream, "write">): LiveScreen {
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
