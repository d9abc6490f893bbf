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

/** On a terminal one line that is rewritten; elsewhere a line per message, so that logs stay readable. */
export function createProgressLine(stream: NodeJS.WriteStream = process.stderr): ProgressLine {
  let shown = false;
  const clear = (): void => {
    if (shown) stream.write("\r\u001B[2K");
    shown = false;
  };
  return {
    show: (message) => {
      if (!stream.isTTY) {
        stream.write(`${message}\n`);
        return;
      }
      clear();
      stream.write(message.slice(0, Math.max(20, (stream.columns ?? 80) - 1)));
      shown = true;
    },
    clear,
  };
}
