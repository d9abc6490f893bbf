/** How the time of every parser of untrusted text grows with the size of hostile texts. */

import { type Reader, READERS, sizes } from "../../test/fuzz/large-texts.ts";
import type { Experiment, Finding, LabSetting } from "../experiment.ts";

const MAX_RATIO = 2.5;
/** A text of 10 MB that takes less blocks nothing, and its ratio is that of caches and the garbage collector. */
const MIN_SLOW_MS = 1_000;

export const parsingTime: Experiment = {
  name: "parsing-time",
  about:
    "Texts of 5 and 10 MB that are designed to be slow go through every parser of untrusted text. Where the longer one takes a second or more, its processor time is compared with that of the shorter one.",
  minutes: 8,
  covers: "T15, T16",
  run: async (setting) => Object.entries(READERS).map(([name, reader]) => growthOf(name, reader, setting)),
};

interface Growth {
  text: string;
  half: number;
  whole: number;
  ratio: number;
}

/** The worst text of a parser, by the growth of its time. */
function growthOf(name: string, { read, texts }: Reader, setting: LabSetting): Finding {
  const measured = Object.entries(texts).map(([text, make]): Growth => {
    const { half, whole } = sizes(setting.scale);
    const measure = (tries: number): Growth => {
      const times = { half: best(read, make(half), tries), whole: best(read, make(whole), tries) };
      return { text, ...times, ratio: times.whole < MIN_SLOW_MS ? 0 : times.whole / Math.max(times.half, 1) };
    };
    try {
      const first = measure(1);
      // A garbage collection looks like growth; real growth is reproducible.
      return first.ratio <= MAX_RATIO ? first : measure(5);
    } catch (error) {
      // An exceeded stack, for example.
      return { text: `${text} (${String(error)})`, half: 0, whole: 0, ratio: Infinity };
    }
  });
  const worst = measured.toSorted((a, b) => b.ratio - a.ratio)[0];
  const slowest = measured.toSorted((a, b) => b.whole - a.whole)[0];
  const growth =
    worst === undefined || worst.ratio === 0 ? "none takes a second" : `${worst.ratio.toFixed(1)} on ${worst.text}`;
  const shown = `${growth}; slowest ${slowest?.whole.toFixed(0) ?? 0} ms on ${slowest?.text ?? "nothing"}, of ${measured.length} texts`;
  setting.print(`${name}: ${shown}`);
  return {
    promise: `${name}: time grows linearly with the size of hostile text`,
    target: `twice the text, at most ${MAX_RATIO} times as long`,
    measured: shown,
    met: (worst?.ratio ?? 0) <= MAX_RATIO,
  };
}

/** The slower tries were disturbed by the garbage collector. */
const best = (read: (text: string) => unknown, text: string, tries: number): number =>
  Math.min(...Array.from({ length: tries }, () => timed(read, text)));

/** CPU time of this thread, which other processes on the machine do not lengthen. */
function timed(read: (text: string) => unknown, text: string): number {
  const started = process.threadCpuUsage();
  read(text);
  const { user, system } = process.threadCpuUsage(started);
  return (user + system) / 1_000;
}
