/** The only writer of stdout outside of the protocol, and the progress lines on stderr. */

export function print(text: string): void {
  process.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
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
