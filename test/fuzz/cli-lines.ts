/** Fuzz target: output of the Gemini CLI is read the same however the pipe splits it, without additions (T7). */

import { type CliOutput, createOutputReader } from "../../src/gemini/cli/output.ts";
import { createRandom } from "../corpus/random.ts";
import { type FuzzTarget, must, mustBeUnpolluted } from "./target.ts";

export const cliLines: FuzzTarget = {
  name: "Gemini CLI output",
  seeds: [
    '{"type":"init","model":"auto"}\n{"type":"message","role":"assistant","content":"I will search."}\n{"type":"tool_use","tool_name":"google_web_search","parameters":{"query":"kyoto\\u001b[31m"}}\n{"type":"tool_use","tool_name":"web_fetch","parameters":{"prompt":"read https://a.example/x."}}\n{"type":"message","role":"assistant","content":"Kyoto"}\n{"type":"result","status":"success","stats":{"models":{"g":{"input_tokens":4,"output_tokens":8,"cached":0,"total_tokens":12}}}}\n',
    '{"type":"error","message":"quota"}\n{"type":"result","status":"error","error":{"message":"no"}}',
    "only words\nand more",
  ],
  words: [
    '{"type":"message","role":"assistant","content":"x"}\n',
    '{"type":"result"}\n',
    '"models":{"__proto__":{"tokens":{"prompt":1e308}}}',
    '"total_tokens":1e308',
    '"parameters":{"query":" "}',
    '"firecrawl"',
    '{"response":"x"}',
    '{"error":{}}',
  ],
  open: () => ({
    check: (input) => {
      const whole = read([input]);
      const { output, activities } = whole;
      must(JSON.stringify(read(cut(input))) === JSON.stringify(whole), "it is the same however the pipe cuts it.");
      mustBeUnpolluted();
      for (const activity of activities) {
        must(activity.length <= 200 && !/[\r\n]/.test(activity), "an activity is one short line.");
      }
      must(!output.finished || input.includes("{"), "T7: only an event of the CLI ends its output.");
      must((output.succeeded === undefined) === !output.finished, "T7: no outcome before the end.");
      for (const figure of Object.values(output.stats ?? {})) {
        must(typeof figure !== "number" || (Number.isFinite(figure) && figure >= 0), "tokens can be counted with.");
      }
      return `${output.succeeded} ${activities.length > 0} ${output.stats?.idle}`;
    },
  }),
};

interface Reading {
  output: CliOutput;
  activities: string[];
  finished: number;
}

function read(chunks: readonly string[]): Reading {
  const activities: string[] = [];
  let finished = 0;
  const reader = createOutputReader({
    onActivity: (activity) => activities.push(activity),
    onFinished: () => (finished += 1),
  });
  for (const chunk of chunks) reader.push(chunk);
  return { output: reader.finish(), activities, finished };
}

function cut(text: string): string[] {
  const random = createRandom(text.length);
  const chunks: string[] = [];
  for (let at = 0; at < text.length;) {
    const length = random.between(1, Math.max(3, text.length / 8));
    chunks.push(text.slice(at, at + length));
    at += length;
  }
  return chunks;
}
