/**
 * Search backend that runs one Gemini CLI process per question and removes all its files and processes afterwards. Prompts
 * are escaped, because the CLI interprets `@` and `/`.
 */

import { type ChildOutcome, runChild } from "../../platform/child.ts";
import type { Log } from "../../platform/log.ts";
import { createRedactor } from "../../platform/redact.ts";
import { type Answer, type AskRequest, type Backend, NO_USAGE, PaidFailure } from "../search-backend.ts";
import { childEnvironment, chooseSignIn, depthOf } from "./environment.ts";
import { cliFailure, cliNotFound } from "./failures.ts";
import { type CallDirectory, type CliHome, createCliHome, type Firecrawl } from "./home.ts";
import { type CliProgram, createCliLocator } from "./locate.ts";
import { type CliOutput, type CliSession, createOutputReader, readSession } from "./output.ts";
import { cancelled } from "../failures.ts";
import { AppError } from "../../errors.ts";

export interface CliBackendOptions {
  environment: Record<string, string | undefined>;
  /** The CLI's home in our config directory. */
  home: string;
  systemPromptFile: string;
  timeoutMs: number;
  progressLogIntervalMs: number;
  apiKey: string | undefined;
  vertex: boolean;
  firecrawl: Firecrawl;
  /** The folder that holds the user's own `.gemini`. */
  userHome: string;
  log: Log;
  redact: (text: string) => string;
  slots: Slots;
  /** Milliseconds that a child may take to exit during a shutdown; undefined at other times. */
  shutdownGrace?: () => number | undefined;
  /** Default 5 s; shorter in tests. */
  graceMs?: number;
}

export interface CliBackend extends Backend {
  readonly name: "cli";
  /** Searches PATH without starting anything; for SEARCH_BACKEND=auto. */
  isInstalled(): boolean;
}

/** Time between SIGTERM and SIGKILL. */
const KILL_GRACE_MS = 5_000;
/** Time to exit after the result: a tool server that does not stop must not use up the whole timeout. */
const EXIT_GRACE_MS = 3_000;

export function createCliBackend(options: CliBackendOptions): CliBackend {
  const locate = createCliLocator(options);
  const home = createCliHome(options);
  let swept: Promise<void> | undefined;
  return {
    name: "cli",
    isInstalled: () => locate() !== undefined,
    obstacle: () => (locate() === undefined ? cliNotFound() : undefined),
    ask: async (request) => {
      if (request.signal.aborted) throw cancelled();
      assertUsable(request, depthOf(options.environment));
      const program = locate();
      if (program === undefined) throw cliNotFound();
      const release = await takeSlot(options, request);
      try {
        await (swept ??= home.sweep());
        return await runInCallDirectory({ options, home, program, request });
      } finally {
        release();
      }
    },
  };
}

async function takeSlot(
  options: CliBackendOptions,
  { signal, onActivity, log = options.log }: AskRequest,
): Promise<() => void> {
  const onWait = (): void => {
    log.info("All Gemini CLI slots on this machine are in use; waiting for a free one.");
    onActivity("Waiting for a free Gemini CLI slot");
  };
  try {
    return await options.slots.take({ signal, onWait });
  } catch (error) {
    throw signal.aborted ? cancelled() : error;
  }
}

interface Call {
  options: CliBackendOptions;
  home: CliHome;
  program: CliProgram;
  request: AskRequest;
}

async function runInCallDirectory(call: Call): Promise<Answer> {
  const { options, home, program, request } = call;
  const { apiKey, firecrawl } = options;
  const signIn = chooseSignIn(options);
  const directory = await home.createCallDirectory({
    purpose: request.purpose,
    credentialFiles: signIn.credentialFiles,
    managed: { signInType: signIn.type, firecrawl },
  });
  try {
    const env = childEnvironment({
      parent: options.environment,
      signIn,
      apiKey,
      firecrawl: request.purpose === "research" ? firecrawl : {},
      paths: {
        ...directory,
        systemPromptFile: options.systemPromptFile,
        compileCache: await home.compileCache(program.file),
      },
    });
    const ended = await spawnGeminiCli(call, directory, env);
    const session = await readSession(directory.cliHome);
    const redactOwn = createRedactor(signIn.variables);
    return answerOrThrow(call, { ...ended, session, redact: (text) => redactOwn(options.redact(text)) });
  } finally {
    await directory.remove();
  }
}

/** The command line is constant: the question is written to stdin, never to argv or a shell (C2). */
async function spawnGeminiCli(
  { options, program, request }: Call,
  { workingDirectory }: CallDirectory,
  env: Record<string, string>,
): Promise<Pick<EndedCall, "child" | "output">> {
  const exitTimeout = new AbortController();
  let exitTimer: NodeJS.Timeout | undefined;
  const reader = createOutputReader({
    onActivity: (activity) => {
      try {
        request.onActivity(activity);
      } catch {
        // A failing listener must not end the call.
      }
    },
    onText: request.onText,
    onFinished: () => (exitTimer ??= setTimeout(() => exitTimeout.abort(), EXIT_GRACE_MS)),
  });
  const started = performance.now();
  const ticker = setInterval(() => {
    (request.log ?? options.log).info(
      `Gemini CLI call has been running for ${Math.round((performance.now() - started) / 1_000)} s`,
    );
  }, options.progressLogIntervalMs);
  try {
    const child = await runChild({
      command: program.command,
      args: [
        ...program.leadingArgs,
        "--output-format",
        "stream-json",
        ...(request.model === undefined ? [] : ["--model", request.model]),
      ],
      cwd: workingDirectory,
      env,
      stdin: escapePrompt(request.prompt),
      timeoutMs: options.timeoutMs,
      signal: AbortSignal.any([request.signal, exitTimeout.signal]),
      grace: () => options.shutdownGrace?.() ?? options.graceMs ?? KILL_GRACE_MS,
      onOutput: reader.push,
    });
    // We killed it after its result event; treat that as a normal exit.
    const wasKilledAfterResult = child.ended === "aborted" && !request.signal.aborted;
    return {
      child: wasKilledAfterResult ? { ...child, ended: "exit", exitCode: undefined, signal: undefined } : child,
      output: reader.finish(),
    };
  } finally {
    clearInterval(ticker);
    clearTimeout(exitTimer);
  }
}

interface EndedCall {
  child: ChildOutcome;
  output: CliOutput;
  session: CliSession;
  redact: (text: string) => string;
}

/** A usable answer counts, whatever the exit code (C7). */
function answerOrThrow({ request, options }: Call, { child, output, session, redact }: EndedCall): Answer {
  const { text, cut } = bestText(output, session);
  const answer: Answer = {
    backend: "cli",
    text,
    cut,
    model: session.model ?? output.stats?.model ?? modelInStderr(child),
    sources: session.sources,
    unreadUrls: [],
    openedUrls: session.openedUrls,
    queries: session.queries,
    // Versions without a session record do not report their searches.
    isGrounded: session.lastTurn === "" ? undefined : session.sources.length + session.queries.length > 0,
    // The CLI discards the HTML that Google sends with the text.
    searchSuggestions: [],
    usage: usageOf(output, session),
    notices: [],
  };
  if (isUsable(text, child, output)) return answer;
  if (!request.signal.aborted && child.ended !== "not_started" && child.stderr.trim() !== "") {
    const log = request.log ?? options.log;
    log.debug(`Last stderr output of the Gemini CLI:\n${redact(child.stderr.slice(-4_000))}`);
  }
  const failure = request.signal.aborted
    ? cancelled()
    : cliFailure({ child, output, timeoutMs: options.timeoutMs, partialText: text });
  throw hasCalledModel(output, session) ? new PaidFailure(failure, answer) : failure;
}

/**
 * Whatever the CLI failed of in the end, what a model has answered before that is charged. Its session record names the
 * model of each answer, those without text included.
 */
const hasCalledModel = ({ stats, text }: CliOutput, { model, lastTurn, searches }: CliSession): boolean =>
  stats === undefined ? text !== "" || lastTurn !== "" || searches > 0 || model !== undefined : !stats.idle;

/**
 * Prefers the CLI's session record, which contains complete turns. On stdout the CLI repeats text when it retries after
 * a broken stream, and at exit it drops what has not been written to the pipe yet.
 */
function bestText(output: CliOutput, session: CliSession): Pick<Answer, "text" | "cut"> {
  const recorded = session.lastTurn !== "" && output.text.trimEnd().endsWith(session.lastTurn.trimEnd());
  if (output.finished) return { text: recorded ? session.text : output.text, cut: false };
  if (session.text.length >= output.text.length) return { text: session.text, cut: false };
  return { text: output.text, cut: "lost" };
}

function isUsable(text: string, child: ChildOutcome, output: CliOutput): boolean {
  if (text.trim() === "") return false;
  if (output.finished && output.succeeded === true) return true;
  if (child.ended !== "exit") return false;
  // After a failure, text between searches is not an answer, but a JSON object may be a complete one.
  const start = text.indexOf("{");
  return start >= 0 && text.includes("}", start);
}

/** Older versions name the model only on stderr (E8). */
function modelInStderr(child: ChildOutcome): string | undefined {
  if (child.ended === "not_started") return undefined;
  return /\bmodel[:= ]+["']?(gemini-[\w.-]+)/i.exec(child.stderr)?.[1];
}

function usageOf({ stats }: CliOutput, session: CliSession): Answer["usage"] {
  // The CLI makes a separate prompt for each search.
  const searched = { searches: session.searches, groundedPrompts: session.searches };
  if (stats === undefined) return { ...NO_USAGE, ...searched, isIncomplete: true };
  // Only the total includes thoughts, which are billed as output, and pages read by tools, which are billed as input.
  const uncounted = Math.max(0, stats.total - stats.input - stats.output);
  const toolInput = Math.min(uncounted, session.toolTokens);
  return {
    input: stats.input + toolInput,
    output: stats.output + uncounted - toolInput,
    cached: stats.cached,
    ...searched,
  };
}

/** The CLI silently truncates longer input. */
const MAX_PROMPT_BYTES = 8 * 1024 * 1024;

/** Excludes flags, parent paths and shell syntax. */
const MODEL_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._:-]|\/(?=[A-Za-z0-9])){0,127}$/;

/**
 * The CLI would replace `@name` by a file's contents and run a leading `/` as a command, also in headless mode (G9).
 * An escaped `\@` reaches the model unchanged.
 */
export function escapePrompt(prompt: string): string {
  const escaped = prompt.replaceAll(/(?<!\\)@/g, "\\@");
  return /^\s*\//.test(escaped) ? `Task:\n${escaped}` : escaped;
}

export function assertUsable({ prompt, model }: AskRequest, depth: number): void {
  if (depth > 0) {
    throw new AppError({
      code: "EXECUTION_ERROR",
      message:
        "This server was started by a Gemini CLI that one of our servers had started; it does not start another CLI.",
      suggestion: "Remove this server from the settings of that Gemini CLI.",
      reason: "config",
    });
  }
  if (model !== undefined && !MODEL_NAME.test(model)) {
    throw new AppError({
      code: "EXECUTION_ERROR",
      message: "The configured model name is not valid for the Gemini CLI.",
      suggestion: "Check GEMINI_MODEL and GEMINI_CORRECTION_MODEL; a name looks like gemini-3.8-flash.",
      reason: "config",
    });
  }
  if (Buffer.byteLength(escapePrompt(prompt)) > MAX_PROMPT_BYTES) {
    throw new AppError({
      code: "EXECUTION_ERROR",
      message: "The question is longer than the 8 MB that the Gemini CLI reads.",
      suggestion: "Ask a shorter question.",
      reason: "input",
    });
  }
}

interface Slots {
  /** Resolves with the function that releases the slot. `onWait` is called once if the call has to wait. */
  take(options: { signal: AbortSignal; onWait: () => void }): Promise<() => void>;
}
