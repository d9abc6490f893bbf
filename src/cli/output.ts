/** The only writer of stdout outside of the protocol, and what people see on stderr. */

/** Done when the text has left the process: who exits before cuts a long answer short. */
export const print = (text: string): Promise<void> => write(process.stdout, text);

export const printFailure = (text: string): Promise<void> => write(process.stderr, text);

function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  // A reader that has gone is told by the stream's error event; here it is as good as done.
  return new Promise((resolve) => void stream.write(text.endsWith("\n") ? text : `${text}\n`, () => resolve()));
}

export interface ProgressLine {
  show(message: string): void;
  clear(): void;
}

/** A log is told again now and then that something still happens; a terminal sees the seconds pass. */
const REPEAT_MS = { terminal: 1_000, log: 15_000 };

/** On a terminal one line that is rewritten; elsewhere a line per message, so that logs stay readable. */
export function createProgressLine(stream: NodeJS.WriteStream = process.stderr): ProgressLine {
  const startedAt = performance.now();
  let said = "";
  let shown = false;
  let timer: NodeJS.Timeout | undefined;
  const erase = (): void => {
    if (shown) stream.write("\r\u001B[2K");
    shown = false;
  };
  const draw = (): void => {
    const text = `${said} (${Math.round((performance.now() - startedAt) / 1_000)} s)`;
    if (!stream.isTTY) {
      stream.write(`${text}\n`);
      return;
    }
    erase();
    stream.write(text.slice(0, Math.max(20, (stream.columns ?? 80) - 1)));
    shown = true;
  };
  return {
    show: (message) => {
      said = message;
      clearInterval(timer);
      timer = setInterval(draw, stream.isTTY ? REPEAT_MS.terminal : REPEAT_MS.log);
      draw();
    },
    clear: () => {
      clearInterval(timer);
      erase();
    },
  };
}
