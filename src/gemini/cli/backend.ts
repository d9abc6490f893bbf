/** The Gemini CLI as a backend for searches: one process per question, of which nothing is left. */

import { AppError } from "../../errors.ts";
import { runChild, type ChildOutcome } from "../../platform/child.ts";
import type { Log } from "../../platform/log.ts";
import { createRedactor } from "../../platform/redact.ts";
import { inSpan } from "../../telemetry/telemetry.ts";
import { type Answer, type AskRequest, type Backend, NO_USAGE } from "../search-backend.ts";
import { childEnvironment, depthOf } from "./environment.ts";
import { cliFailure, cliNotFound } from "./failures.ts";
import { createCliHome, type CallRoom, type CliHome } from "./home.ts";
import { createCliLocator, type CliProgram } from "./locate.ts";
import { createOutputReader, type CliOutput } from "./output.ts";
import { escapePrompt, refuseUnusable } from "./prompt.ts";
import { readSession, type CliSession } from "./session.ts";
import type { Firecrawl } from "./settings.ts";
import { chooseSignIn } from "./sign-in.ts";
import type { Slots } from "./slots.ts";
import { cancelled } from "../failures.ts";

export interface CliBackendOptions {
  environment: Record<string, string | undefined>;
  /** Ours, under the config directory. */
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
  /** Milliseconds that a child may take to leave while the server is leaving; undefined while it is not. */
  shutdownGrace?: () => number | undefined;
  /** For tests; 5 s otherwise. */
  graceMs?: number;
}

export interface CliBackend extends Backend {
  readonly name: "cli";
  /** For SEARCH_BACKEND=auto; looks on PATH, starts nothing. */
  isInstalled(): boolean;
}

const GRACE_MS = 5_000;
/** After its last word the CLI only cleans up; a tool server that will not leave must not cost the whole timeout. */
const LEAVE_WITHIN_MS = 3_000;

export function createCliBackend(options: CliBackendOptions): CliBackend {
  const locate = createCliLocator(options);
  const home = createCliHome(options);
  let swept: Promise<void> | undefined;
  return {
    name: "cli",
    isInstalled: () => locate() !== undefined,
    ask: async (request) => {
      if (request.signal.aborted) throw cancelled();
      refuseUnusable(request, depthOf(options.environment));
      const program = locate();
      if (program === undefined) throw cliNotFound();
      const release = await takeSlot(options, request);
      try {
        await (swept ??= home.sweep());
        return await askInRoom({ options, home, program, request });
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
    log.info("All Gemini CLI slots of this machine are taken; waiting for a free one.");
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

async function askInRoom(call: Call): Promise<Answer> {
  const { options, home, program, request } = call;
  const { apiKey, firecrawl } = options;
  const signIn = chooseSignIn(options);
  const research = request.purpose === "research";
  const room = await openRoom(home, {
    purpose: request.purpose,
    signIn,
    managed: { signInType: signIn.type, firecrawl },
  });
  try {
    const env = childEnvironment({
      parent: options.environment,
      signIn,
      apiKey,
      firecrawl: research ? firecrawl : {},
      paths: {
        ...room,
        systemPromptFile: options.systemPromptFile,
        compileCache: await home.compileCache(program.file),
      },
    });
    const { child, output } = await spawnGeminiCli({ options, program, request, room, env });
    const session = await readSession(room.cliHome);
    const redactOwn = createRedactor(signIn.variables);
    return conclude({ child, output, session, request, options, redact: (text) => redactOwn(options.redact(text)) });
  } finally {
    await room.close();
  }
}

async function openRoom(home: CliHome, request: Parameters<CliHome["openRoom"]>[0]): Promise<CallRoom> {
  try {
    return await home.openRoom(request);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    const full = code === "ENOSPC" || code === "EDQUOT";
    throw new AppError({
      code: full ? "DISK_FULL" : "PERMISSION_DENIED",
      message: full
        ? "The disk is full: the Gemini CLI's folder in the config directory could not be prepared."
        : "The Gemini CLI's folder in the config directory could not be prepared.",
      suggestion: full
        ? "Free some disk space."
        : "Make the config directory writable, or set GEMINI_SEARCH_CONFIG_DIR.",
      reason: "config",
      cause: error,
    });
  }
}

interface Spawn {
  options: CliBackendOptions;
  program: CliProgram;
  request: AskRequest;
  room: CallRoom;
  env: Record<string, string>;
}

/** C2: a constant command line; the question goes in by stdin and meets neither argv nor a shell. */
async function spawnGeminiCli(spawn: Spawn): Promise<{ child: ChildOutcome; output: CliOutput }> {
  const { options, program, request, room, env } = spawn;
  const leave = new AbortController();
  let leaving: NodeJS.Timeout | undefined;
  const reader = createOutputReader({
    onActivity: (activity) => {
      try {
        request.onActivity(activity);
      } catch {
        // A listener that went away must not end the call.
      }
    },
    onFinished: () => (leaving ??= setTimeout(() => leave.abort(), LEAVE_WITHIN_MS)),
  });
  const started = performance.now();
  const ticker = setInterval(() => {
    (request.log ?? options.log).info(
      `Gemini CLI call has been running for ${Math.round((performance.now() - started) / 1_000)} s`,
    );
  }, options.progressLogIntervalMs);
  try {
    const child = await observedChild({
      command: program.command,
      args: [
        ...program.leadingArgs,
        "--output-format",
        "stream-json",
        ...(request.model === undefined ? [] : ["--model", request.model]),
      ],
      cwd: room.workingDirectory,
      env,
      stdin: escapePrompt(request.prompt),
      timeoutMs: options.timeoutMs,
      signal: AbortSignal.any([request.signal, leave.signal]),
      grace: () => options.shutdownGrace?.() ?? options.graceMs ?? GRACE_MS,
      onOutput: reader.push,
    });
    // It had said its last word and would not leave: that word counts, not our push.
    const pushed = child.ended === "aborted" && !request.signal.aborted;
    return {
      child: pushed ? { ...child, ended: "exit", exitCode: undefined, signal: undefined } : child,
      output: reader.finish(),
    };
  } finally {
    clearInterval(ticker);
    clearTimeout(leaving);
  }
}

const observedChild = (request: Parameters<typeof runChild>[0]): Promise<ChildOutcome> =>
  inSpan({ name: "gemini", kind: "client", attributes: { "process.executable.name": "gemini" } }, async (span) => {
    const child = await runChild(request);
    span.set({ "gemini_search.child.ended": child.ended });
    if (child.ended !== "exit") span.fail(child.ended);
    else if (child.exitCode !== undefined) span.set({ "process.exit.code": child.exitCode });
    return child;
  });

interface Ended {
  child: ChildOutcome;
  output: CliOutput;
  session: CliSession;
  request: AskRequest;
  options: CliBackendOptions;
  redact: (text: string) => string;
}

/** C7: what counts is a usable answer, not the exit code. */
function conclude({ child, output, session, request, options, redact }: Ended): Answer {
  const { text, cut } = bestText(output, session);
  if (isUsable(text, child, output)) {
    return {
      backend: "cli",
      text,
      cut,
      model: session.model ?? output.stats?.model ?? modelInLog(child),
      sources: session.sources,
      unreadUrls: [],
      queries: session.queries,
      // The CLI keeps Google's text and drops the HTML that came with it.
      searchSuggestions: [],
      usage: usageOf(output, session),
      notices: [],
    };
  }
  if (request.signal.aborted) throw cancelled();
  if (child.ended !== "not_started" && child.stderr.trim() !== "") {
    const log = request.log ?? options.log;
    log.debug(`The end of what the Gemini CLI wrote on stderr:\n${redact(child.stderr.slice(-4_000))}`);
  }
  throw cliFailure({ child, output, timeoutMs: options.timeoutMs, partialText: text });
}

/**
 * The CLI's own record holds whole turns. On stdout it repeats what it said when a stream breaks off and it tries
 * again, and at exit it drops what the pipe has not taken yet.
 */
function bestText(output: CliOutput, session: CliSession): { text: string; cut: boolean } {
  const recorded = session.lastTurn !== "" && output.text.trimEnd().endsWith(session.lastTurn.trimEnd());
  if (output.finished) return { text: recorded ? session.text : output.text, cut: false };
  if (session.text.length >= output.text.length) return { text: session.text, cut: false };
  return { text: output.text, cut: output.format === "events" };
}

function isUsable(text: string, child: ChildOutcome, output: CliOutput): boolean {
  if (text.trim() === "") return false;
  if (output.finished && output.succeeded === true) return true;
  if (child.ended !== "exit") return false;
  if (child.exitCode === 0 && output.format === "plain") return true;
  // After a failure, remarks between searches are no answer; an object may well be the whole of it.
  const start = text.indexOf("{");
  return start >= 0 && text.includes("}", start);
}

/** E8: older versions name the model on stderr only. */
function modelInLog(child: ChildOutcome): string | undefined {
  if (child.ended === "not_started") return undefined;
  return /\bmodel[:= ]+["']?(gemini-[\w.-]+)/i.exec(child.stderr)?.[1];
}

function usageOf({ stats }: CliOutput, session: CliSession): Answer["usage"] {
  // Each search of the CLI is a prompt of its own.
  const searched = { searches: session.searches, groundedPrompts: session.searches };
  if (stats === undefined) return { ...NO_USAGE, ...searched };
  // The event stream counts thoughts, which cost as output, and pages read by tools, which cost as input, only in the total.
  const uncounted = Math.max(0, stats.total - stats.input - stats.output);
  const read = Math.min(uncounted, session.toolTokens);
  return {
    input: stats.input + read,
    output: stats.output + uncounted - read,
    cached: stats.cached,
    ...searched,
  };
}
