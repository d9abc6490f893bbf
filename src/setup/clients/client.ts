/** What `init` must know about an MCP client, and what the entries of several clients share. */

import type { Entry } from "../entry-format.ts";
import type { Launch } from "../launch.ts";
import type { Paths } from "../paths.ts";

export type Scope = "user" | "project";

/** A server that is already running. */
export interface RunningServer {
  url: string;
  /** Only if the user asked to write its value; otherwise the client reads TOKEN_VARIABLE. */
  token?: string | undefined;
}

export interface Client {
  name: string;
  title: string;
  format: "json" | "toml";
  /** The table that holds all servers. */
  container: string;
  /** A table of the user's file that has another container for each project path. */
  projects?: string;
  /** Undefined if the client has no such scope, or if its file could not be verified. */
  file(paths: Paths, scope: Scope): string | undefined;
  /** The client is installed if one of these paths exists or one of its programs is on PATH. */
  traces(paths: Paths): string[];
  programs: readonly string[];
  /** The client is not started from a shell, so its PATH may lack our command. */
  withoutShell?: boolean;
  stdio(launch: Launch): Entry;
  /** The table of an entry with the variables of the server; `env` if undefined. */
  variables?: string;
  /** Missing if the client's file supports commands only. */
  http?(server: RunningServer): Entry;
  /** Passes the key on from its own environment. */
  passesKey: boolean;
  /** How the user sees that the client has the server. */
  check: string;
  /** What the user has to do besides restarting it. */
  hint?: string;
}

export const KEY_VARIABLE = "GEMINI_API_KEY";
export const CONFIG_VARIABLE = "GEMINI_SEARCH_CONFIG_DIR";
export const TOKEN_VARIABLE = "MCP_AUTH_TOKEN";

/** Long enough for a deep_search of many rounds; some clients cut a call off after a minute. */
export const TOOL_TIMEOUT_SECONDS = 1_800;

export const bearer = ({ token }: RunningServer, reference: string): Entry => ({
  Authorization: `Bearer ${token ?? reference}`,
});
