/** Runs one library over the cases in a worker thread, which can be terminated when it hangs. */

import { parentPort, workerData } from "node:worker_threads";

import { DEEP_SEARCH_SCHEMA, SEARCH_SCHEMA, type AnswerSchema, type ResearchAnswer } from "../../src/search/schemas.ts";
import { generateCase } from "../../test/corpus/corrupt.ts";
import { judge, type Verdict } from "../../test/corpus/judge.ts";
import { MALFORMED_ANSWERS } from "../../test/corpus/malformed-answers.ts";
import { loadLibrary } from "./libraries.ts";

export interface Job {
  library: string;
  mode: "alone" | "in our extractor";
  generated: number;
  /** The case to continue with after a hang. */
  from: number;
}

export type Message = { ready: true } | { index: number; verdict: Verdict; milliseconds: number };

type Answer = (output: string, schema: AnswerSchema) => ResearchAnswer | undefined;

export function benchCases(generated: number) {
  return [...MALFORMED_ANSWERS, ...Array.from({ length: generated }, (_, seed) => generateCase(seed))];
}

async function answerer({ library: name, mode }: Job): Promise<Answer> {
  const library = await loadLibrary(name);
  if (mode === "alone") return (output, schema) => schema.parse(library.parse(output));
  const { extractJsonFromOutput } = await import("../../src/search/extract-json.ts");
  return (output, schema) => {
    const extraction = extractJsonFromOutput(output, schema, { repair: library.repair });
    return extraction.kind === "valid" ? extraction.answer : undefined;
  };
}

if (parentPort) {
  const job: Job = workerData;
  const answer = await answerer(job);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
  const say = (message: Message): void => parentPort?.postMessage(message);
  say({ ready: true });
  for (const [index, item] of benchCases(job.generated).entries()) {
    if (index < job.from) continue;
    const started = performance.now();
    let got: ResearchAnswer | undefined;
    try {
      got = answer(item.output, item.schema === "search" ? SEARCH_SCHEMA : DEEP_SEARCH_SCHEMA);
    } catch {
      // A library throws if it found nothing.
    }
    const milliseconds = performance.now() - started;
    say({ index, verdict: judge(item, got), milliseconds });
  }
}
