/** Checks whether Gemini can be used: the CLI and its login, the key, the network, and the clock. */

import { readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";
import type { Config } from "../config/config.ts";
import type { FailureReason } from "../errors.ts";
import { createCliLocator } from "../gemini/cli/locate.ts";
import { chooseSignIn } from "../gemini/cli/environment.ts";
import { KEY_PAGE, refusalOf } from "../gemini/failures.ts";
import { API_VERSION, useProxyFromEnvironment } from "../gemini/transport/google-client.ts";
import { type CheckResult, fail, ok, warn } from "./check.ts";

const INSTALL = "npm install -g @google/gemini-cli";

export function checkCli({ environment, settings, vertex }: Config): CheckResult[] {
  const program = createCliLocator({ environment })();
  const hasKey = vertex || settings.GEMINI_API_KEY !== undefined;
  if (program === undefined) {
    if (settings.SEARCH_BACKEND === "cli") {
      const remedy = `${INSTALL}, or set SEARCH_BACKEND=api and GEMINI_API_KEY.`;
      return [fail("gemini cli", "Not installed, but SEARCH_BACKEND=cli requires it.", remedy)];
    }
    return [
      hasKey
        ? ok("gemini cli", "Not installed; searches use the Gemini API.")
        : fail(
            "gemini cli",
            "No Gemini CLI and no API key, so nothing can be searched.",
            `Get a key at ${KEY_PAGE}, then run gemini-search-mcp init. Or install the CLI: ${INSTALL}`,
          ),
    ];
  }
  const signIn = chooseSignIn({
    apiKey: settings.GEMINI_API_KEY,
    vertex,
    environment,
    userHome: environment["GEMINI_CLI_HOME"] ?? homedir(),
  });
  const found = ok("gemini cli", `${program.file}${versionOf(program.file)}`);
  if (signIn.by !== "own") return [found, ok("gemini cli login", `Signs in with ${signIn.type ?? signIn.by}.`)];
  return [found, checkOwnLogin(signIn.type, signIn.credentialFiles.length > 0)];
}

/** Google ended consumer logins for the CLI on 2026-06-18. */
function checkOwnLogin(type: string | undefined, hasFiles: boolean): CheckResult {
  const remedy = `Get a key at ${KEY_PAGE}, then run gemini-search-mcp init.`;
  if (type === undefined && !hasFiles)
    return fail("gemini cli login", "The CLI is not signed in on this machine.", remedy);
  return type === "oauth-personal"
    ? warn("gemini cli login", "Uses a personal Google login, which Google has ended for most accounts.", remedy)
    : ok("gemini cli login", `Uses your own login (${type ?? "chosen by the CLI"}).`);
}

const manifest = z.object({ name: z.literal("@google/gemini-cli"), version: z.string() });

/** From its package.json; running the CLI takes seconds and may open a browser. */
function versionOf(file: string): string {
  for (let folder = dirname(realpathSync(file)); folder !== dirname(folder); folder = dirname(folder)) {
    try {
      return `, version ${manifest.parse(JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))).version}`;
    } catch {
      // Try the parent folder.
    }
  }
  return "";
}

const GOOGLE = "https://generativelanguage.googleapis.com";
const TIMEOUT_MS = 10_000;
const MAX_SKEW_MS = 60_000;

/** Sends one request that lists a model and is free of charge. */
export async function checkReach({ settings, vertex }: Config, now: () => number): Promise<CheckResult[]> {
  const base = settings.GOOGLE_GEMINI_BASE_URL ?? (vertex ? "https://aiplatform.googleapis.com" : GOOGLE);
  const { host } = new URL(base);
  const key = vertex ? undefined : settings.GEMINI_API_KEY;
  await useProxyFromEnvironment();
  let response: Response;
  let text = "";
  try {
    response = await fetch(new URL(`${API_VERSION}/models?pageSize=1`, `${base.replace(/\/$/, "")}/`), {
      headers: key === undefined ? {} : { "x-goog-api-key": key },
      // Following a redirect would send the key to another host.
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    text = await readStart(response);
  } catch {
    const remedy = "Check the network, HTTPS_PROXY and GOOGLE_GEMINI_BASE_URL.";
    return [fail("reachability", `Can't reach ${host}.`, remedy), ...checkMissingKey(key, vertex)];
  }
  const isGoogle = vertex || /"(?:models|error)"\s*:/.test(text);
  return [
    isGoogle
      ? ok("reachability", `${host} is reachable.`)
      : fail(
          "reachability",
          `The server at ${host} is not the Gemini API.`,
          "Sign in to the network, or correct GOOGLE_GEMINI_BASE_URL.",
        ),
    ...(key === undefined ? checkMissingKey(key, vertex) : isGoogle ? [checkKey(response.status, { host, text })] : []),
    ...checkClock(response.headers.get("date"), now()),
  ];
}

const MAX_READ_CHARACTERS = 64 * 1_024;

/** Reads enough to recognise the Gemini API; a captive portal may send an endless page. */
async function readStart({ body }: Response): Promise<string> {
  let text = "";
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    if (text.length > MAX_READ_CHARACTERS) break;
  }
  return text;
}

/** A refusal for another reason is not about the key: another one may be refused, too. */
function checkKey(status: number, { host, text }: { host: string; text: string }): CheckResult {
  if (status === 200) return ok("key", "GEMINI_API_KEY works.");
  const { reason, message, suggestion } = refusalOf(status, text, { model: "", purpose: "search" });
  if (reason === "auth") {
    return fail(
      "key",
      `${host} rejects GEMINI_API_KEY.`,
      `Create a new one at ${KEY_PAGE}, then run gemini-search-mcp init.`,
    );
  }
  if (REFUSES_ALL.has(reason)) return fail("access", message, suggestion);
  return warn("key", `${host} answered with status ${status}, so the key could not be checked.`, "Try again later.");
}

/** Why Google refuses searches and starts as well as this request. */
const REFUSES_ALL: ReadonlySet<FailureReason> = new Set(["billing", "location", "credentials"]);

function checkMissingKey(key: string | undefined, vertex: boolean): CheckResult[] {
  if (key !== undefined) return [];
  return vertex
    ? [ok("key", "Vertex AI is selected; its credentials are used when a call is made.")]
    : [warn("key", "GEMINI_API_KEY is not set.", "Deep Research needs a key from a paid Google AI Studio plan.")];
}

/** Whether a key is set, without asking Google. */
export const checkKeyOffline = ({ settings: { GEMINI_API_KEY: key }, vertex }: Config): CheckResult[] =>
  key === undefined || vertex ? checkMissingKey(undefined, vertex) : [ok("key", "GEMINI_API_KEY is set; not tested.")];

function checkClock(date: string | null, now: number): CheckResult[] {
  const theirs = Date.parse(date ?? "");
  if (Number.isNaN(theirs)) return [];
  const skew = Math.abs(now - theirs);
  return [
    skew <= MAX_SKEW_MS
      ? ok("clock", "In sync with Google.")
      : warn("clock", `${Math.round(skew / 1_000)} s off from Google's time.`, "Turn on time synchronisation."),
  ];
}
