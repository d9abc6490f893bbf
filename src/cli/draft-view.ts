/** Shows the report of a search while Gemini writes it: its last lines, on the whole screen of the terminal. */

import { cleanText } from "../platform/clean-text.ts";
import { numberedDocument } from "../reports/document/document.ts";
import { type LiveView, openLiveView } from "./live-view.ts";
import type { LogLines } from "./output.ts";
import { reportLines } from "./render/markdown/report.ts";
import { paintFor } from "./render/paint.ts";

export interface DraftView {
  /** Receives a function that reads the report so far: it is called once per redraw. */
  show(read: () => string | undefined): void;
  /** Restores the screen; the next draft takes it again. */
  end(): void;
}

/** Faster than a person reads, slow enough for a remote terminal. */
const MIN_REDRAW_MS = 150;
const FOOTER = "Gemini is writing; the sources follow. Ctrl-C stops the search.";

/** `onOpen` is called before the screen is taken. */
export function createDraftView(
  stream: NodeJS.WriteStream,
  { log, onOpen }: { log: Pick<LogLines, "divert">; onOpen: () => void },
): DraftView {
  const paint = paintFor(stream);
  let read: () => string | undefined = () => undefined;
  let view: LiveView | undefined;
  let drawnAt: number | undefined;
  const frame = (): string[] | undefined => {
    const report = read();
    if (report === undefined) return undefined;
    const { columns, rows } = stream;
    // The text of a link says enough until the sources are known.
    const space = { width: columns, paint, link: (_url: string, text: string) => text };
    const lines = reportLines(numberedDocument(cleanText(report), []), space);
    return [...lines.slice(-Math.max(1, rows - 2)), "", paint("faint", FOOTER.slice(0, columns - 1))];
  };
  // Called by a timer, too, where an error would end the process in the middle of a paid call.
  const linesOf = (): string[] | undefined => {
    try {
      return frame();
    } catch {
      return undefined;
    }
  };
  return {
    show: (reader) => {
      read = reader;
      const now = performance.now();
      // An answer that arrives at once never takes the screen.
      drawnAt ??= now;
      if (now - drawnAt < MIN_REDRAW_MS) return;
      drawnAt = now;
      if (view === undefined) {
        if (read() === undefined) return;
        onOpen();
        view = openLiveView(stream, linesOf);
        log.divert(view.log);
      }
      view.redraw();
    },
    end: () => {
      if (view === undefined) return;
      log.divert(undefined);
      view.end();
      view = undefined;
      read = () => undefined;
    },
  };
}
