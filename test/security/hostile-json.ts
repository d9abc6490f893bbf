/** JSON that targets Object.prototype, or is unusually deep, long or strange (T24). */

import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openResearch, type ResearchScene } from "../kit/server/research.ts";
import { BIN } from "../kit/server/server.ts";
import { openVerdict, type Stage, type Verdict } from "./trial.ts";

const deep = (depth: number, open: string, close: string): string => open.repeat(depth) + close.repeat(depth);

/** JSON texts, because parsed values would lose the hostile parts. */
export const HOSTILE_JSON: readonly string[] = [
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"__proto__":{"__proto__":{"polluted":true}}}',
  '{"a":{"__proto__":{"polluted":true}}}',
  '[{"__proto__":{"polluted":true}}]',
  '{"\\u005f\\u005fproto\\u005f\\u005f":{"polluted":true}}',
  '{"__proto__":{"toString":"x","then":"x","success":true,"isError":false}}',
  '{"toString":null,"valueOf":null,"hasOwnProperty":1,"toJSON":{}}',
  '{"query":"first","query":"second"}',
  '{"then":1,"length":-1,"constructor":null}',
  '"__proto__"',
  "1e400",
  "-0",
  "123456789012345678901234567890",
  '"\\ud800"',
  '"\\u0000"',
  deep(10_000, "[", "]"),
  `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`,
  `{${Array.from({ length: 20_000 }, (_, n) => `"k${n}":${n}`).join(",")}}`,
];

/** Each value as the whole input, as a field, as an unknown field and around the message. */
const inputs = (value: string): string[] => [
  value,
  `{"query":${value}}`,
  `{"task_id":${value}}`,
  `{"query":"A question","__proto__":${value}}`,
  `{"query":"A question","max_iterations":${value}}`,
  `{"query":"A question","extra":${value}}`,
];

const TOOLS = [
  "search",
  "list_research",
  "check_research_status",
  "estimate_research_cost",
  "save_research_to_markdown",
];
/** Reports on exit which properties Object.prototype has gained. */
const WITNESS = `process.once("exit", () => {
  const found = []; for (const name in {}) found.push(name);
  const own = Object.getOwnPropertyNames(Object.prototype).length;
  require("node:fs").writeFileSync(process.env.WITNESS_FILE, JSON.stringify({ found, own}));
});`;

export async function tryHostileJson(stage: Stage): Promise<Verdict> {
  const verdict = openVerdict();
  const scene = await openResearch(stage, {});
  const witness = join(scene.configDir, "witness.cjs");
  writeFileSync(witness, WITNESS);
  // From the settings, a model and Google.
  const settings = `{"__proto__":{"polluted":true,"GEMINI_API_KEY":"x"},"constructor":{"prototype":{"polluted":true}},"DEBUG":${HOSTILE_JSON[0]}}`;
  writeFileSync(join(scene.configDir, "config.json"), settings);
  const file = join(scene.configDir, "witness.json");
  const env = {
    ...scene.env,
    JSON_MAX_RETRIES: "1",
    NODE_OPTIONS: `--require=${witness}`,
    WITNESS_FILE: file,
  };
  scene.gemini.setScenario({
    name: "polluting",
    tasks: {
      search: HOSTILE_JSON.map((value) => ({
        answer: "raw" as const,
        text: `\`\`\`json\n{"success":true,"report":"x","metadata":${value},"__proto__":${value}}\n\`\`\``,
      })),
    },
  });
  await converse(env, verdict.check);
  const seen = existsSync(file) ? readFileSync(file, "utf8") : "no word of the witness";
  verdict.check(seen, seen === JSON.stringify({ found: [], own: Object.getOwnPropertyNames(Object.prototype).length }));
  return verdict;
}

/** Writes lines without a client, because a client would not send such messages. */
async function converse(env: ResearchScene["env"], check: (what: string, holds: boolean) => void): Promise<void> {
  const child = spawn(process.execPath, [BIN], { env, stdio: ["pipe", "pipe", "ignore"] });
  const waiting = new Map<number, (message: Answer) => void>();
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const message: Answer = JSON.parse(line);
      waiting.get(message.id ?? -1)?.(message);
    }
  });
  const gone = new Promise<Answer>(
    (resolve) => void child.once("exit", (code) => resolve({ error: { message: `exit ${code}` }, gone: true })),
  );
  const ask = (id: number, method: string, params: string): Promise<Answer> => {
    const answered = new Promise<Answer>((resolve) => waiting.set(id, resolve));
    child.stdin.write(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}\n`);
    return Promise.race([answered, gone]);
  };
  await ask(
    0,
    "initialize",
    '{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}',
  );
  let id = 0;
  for (const value of HOSTILE_JSON) {
    for (const [number, input] of inputs(value).entries()) {
      const tool = TOOLS[number % TOOLS.length] ?? "search";
      const answer = await ask(
        (id += 1),
        "tools/call",
        `{"name":"${tool}","arguments":${input},"_meta":${value.startsWith("{") ? value : "{}"}}`,
      );
      const response = JSON.stringify(answer);
      check(
        `${tool} ${input.slice(0, 80)}: ${response.slice(0, 300)}`,
        answer.gone !== true && !response.includes("UNEXPECTED_ERROR"),
      );
    }
    const answer = await ask(
      (id += 1),
      "tools/call",
      '{"name":"search","arguments":{"query":"A question for the model"}}',
    );
    check(`model ${value.slice(0, 80)}`, answer.gone !== true && !JSON.stringify(answer).includes("UNEXPECTED_ERROR"));
  }
  child.stdin.end();
  await gone;
}

interface Answer {
  id?: number;
  gone?: boolean;
  result?: unknown;
  error?: { message: string };
}
