/** Is Gemini within reach: the CLI and its login, the key, the network, and whether the clocks agree. */

import { readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";
import type { Config } from "../config/config.ts";
import { createCliLocator } from "../gemini/cli/locate.ts";
import { chooseSignIn } from "../gemini/cli/sign-in.ts";
import { useProxyFromEnvironment } from "../gemini/transport/google-client.ts";
import { type Checkup, fail, ok, warn } from "./check.ts";

const INSTALL = "npm install -g @google/gemini-cli";

export function checkCli({ environment, settings, vertex }: Config): Checkup[] {
  const program = createCliLocator({ environment })();
  const hasKey = vertex || settings.GEMINI_API_KEY !== undefined;
  if (program === undefined) {
    const remedy = `${INSTALL}, or set SEARCH_BACKEND=api and GEMINI_API_KEY.`;
    if (settings.SEARCH_BACKEND === "cli") return [fail("gemini cli", "It is not on PATH.", remedy)];
    return [
      hasKey
        ? ok("gemini cli", "Not installed; searches use the Gemini API.")
        : fail("gemini cli", "It is not on PATH and no key is set, so no search can be answered.", remedy),
    ];
  }
  const signIn = chooseSignIn({
    apiKey: settings.GEMINI_API_KEY,
    vertex,
    environment,
    userHome: environment["GEMINI_CLI_HOME"] ?? homedir(),
  });
  const found = ok("gemini cli", `${program.file}${versionOf(program.file)}`);
  if (signIn.by !== "own") return [found, ok("gemini cli login", `It signs in with ${signIn.type ?? signIn.by}.`)];
  return [found, ownLogin(signIn.type, signIn.credentialFiles.length > 0)];
}

/** Google ended consumer logins for the CLI on 2026-06-18. */
function ownLogin(type: string | undefined, hasFiles: boolean): Checkup {
  const remedy = "Set GEMINI_API_KEY (a key from Google AI Studio).";
  if (type === undefined && !hasFiles) return fail("gemini cli login", "The CLI has no login on this machine.", remedy);
  return type === "oauth-personal"
    ? warn("gemini cli login", "It uses a personal Google login, which Google has ended for most accounts.", remedy)
    : ok("gemini cli login", `It uses your own login (${type ?? "as the CLI chooses"}).`);
}

const manifest = z.object({ name: z.literal("@google/gemini-cli"), version: z.string() });

/** From its package, never by running it: that takes seconds and may open a browser. */
function versionOf(file: string): string {
  for (let folder = dirname(realpathSync(file)); folder !== dirname(folder); folder = dirname(folder)) {
    try {
      return `, version ${manifest.parse(JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))).version}`;
    } catch {
      // Not here: further up.
    }
  }
  return "";
}

const GOOGLE = "https://generativelanguage.googleapis.com";
const ANSWER_WITHIN_MS = 10_000;
const SMALL_SKEW_MS = 60_000;

/** One free request: it lists a model and charges nothing. */
export async function checkReach({ settings, vertex }: Config, now: () => number): Promise<Checkup[]> {
  const base = settings.GOOGLE_GEMINI_BASE_URL ?? (vertex ? "https://aiplatform.googleapis.com" : GOOGLE);
  const { host } = new URL(base);
  const key = vertex ? undefined : settings.GEMINI_API_KEY;
  await useProxyFromEnvironment();
  let answer: Response;
  let said = "";
  try {
    answer = await fetch(new URL("v1beta/models?pageSize=1", `${base.replace(/\/$/, "")}/`), {
      headers: key === undefined ? {} : { "x-goog-api-key": key },
      // Fetch would take the key along to wherever it is sent.
      redirect: "manual",
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    said = await firstWords(answer);
  } catch {
    const remedy = "Check the network, HTTPS_PROXY and GOOGLE_GEMINI_BASE_URL.";
    return [fail("reachability", `${host} does not answer.`, remedy), ...keyWithoutAnswer(key, vertex)];
  }
  const isGoogle = vertex || /"(?:models|error)"\s*:/.test(said);
  return [
    isGoogle
      ? ok("reachability", `${host} answers.`)
      : fail(
          "reachability",
          `What answers at ${host} is not the Gemini API.`,
          "Sign in to the network, or correct GOOGLE_GEMINI_BASE_URL.",
        ),
    ...(key === undefined
      ? keyWithoutAnswer(key, vertex)
      : isGoogle
        ? [keyVerdict(answer.status, { host, said })]
        : []),
    ...clock(answer.headers.get("date"), now()),
  ];
}

const MOST_READ = 64 * 1_024;

/** Enough to tell whose answer it is; a portal may send pages without end. */
async function firstWords({ body }: Response): Promise<string> {
  let text = "";
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    if (text.length > MOST_READ) break;
  }
  return text;
}

function keyVerdict(status: number, { host, said }: { host: string; said: string }): Checkup {
  if (status === 200) return ok("key", "GEMINI_API_KEY is accepted.");
  // Google says 400 also of a place from which it does not serve.
  if (status === 401 || status === 403 || said.includes("API_KEY_INVALID")) {
    return fail("key", `${host} refuses GEMINI_API_KEY.`, "Make a key in Google AI Studio and set it.");
  }
  return warn("key", `${host} answered with status ${status}, so the key could not be tried.`, "Try again later.");
}

function keyWithoutAnswer(key: string | undefined, vertex: boolean): Checkup[] {
  if (key !== undefined) return [];
  return vertex
    ? [ok("key", "Vertex AI is chosen; its credentials are used when a call is made.")]
    : [warn("key", "GEMINI_API_KEY is not set.", "Deep research needs a key of a paid plan from Google AI Studio.")];
}

function clock(date: string | null, now: number): Checkup[] {
  const theirs = Date.parse(date ?? "");
  if (Number.isNaN(theirs)) return [];
  const skew = Math.abs(now - theirs);
  return [
    skew <= SMALL_SKEW_MS
      ? ok("clock", "It agrees with Google's.")
      : warn("clock", `It is ${Math.round(skew / 1_000)} s away from Google's.`, "Switch on time synchronisation."),
  ];
}
