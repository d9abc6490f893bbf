/** Decides how the Gemini CLI signs in: our key, Vertex AI, or what the user chose for their own CLI. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { z } from "zod";
import { parseSettings } from "./settings.ts";

export interface SignIn {
  by: "key" | "vertex" | "own";
  /** The CLI's name of the sign-in method; undefined leaves the choice to the CLI. */
  type: string | undefined;
  /** Credential files in the user's own CLI home. */
  credentialFiles: readonly string[];
  /** Sign-in variables from the user's `~/.gemini/.env`. */
  variables: Readonly<Record<string, string>>;
}

export interface SignInOptions {
  apiKey: string | undefined;
  vertex: boolean;
  environment: Record<string, string | undefined>;
  /** The folder that holds the user's own `.gemini`. */
  userHome: string;
}

/** The login, the account name, and the encrypted file that replaces a keychain. */
const CREDENTIAL_FILES = ["oauth_creds.json", "google_accounts.json", "gemini-credentials.json"];

const SIGN_IN_VARIABLES = [
  "GEMINI_API_KEY",
  "GOOGLE_API_KEY",
  "GOOGLE_CLOUD_PROJECT",
  "GOOGLE_CLOUD_LOCATION",
  "GOOGLE_GENAI_USE_VERTEXAI",
  "GOOGLE_GENAI_USE_GCA",
  "GOOGLE_APPLICATION_CREDENTIALS",
  "GOOGLE_GEMINI_BASE_URL",
];

export function chooseSignIn(options: SignInOptions): SignIn {
  const { apiKey, vertex, environment } = options;
  const noUserFiles = { credentialFiles: [], variables: {} };
  // With Vertex AI switched on, GOOGLE_API_KEY alone is a Vertex key; GEMINI_API_KEY never is.
  const keyIsForVertex = vertex && !environment["GEMINI_API_KEY"]?.trim();
  if (apiKey !== undefined && !keyIsForVertex) return { by: "key", type: "gemini-api-key", ...noUserFiles };
  if (vertex) return { by: "vertex", type: "vertex-ai", ...noUserFiles };
  return ownSignIn(join(options.userHome, ".gemini"));
}

function ownSignIn(folder: string): SignIn {
  const variables = readVariables(join(folder, ".env"));
  return {
    by: "own",
    type: readChosenType(join(folder, "settings.json")) ?? typeByVariables(variables),
    credentialFiles: CREDENTIAL_FILES.map((name) => join(folder, name)).filter((file) => existsSync(file)),
    variables,
  };
}

const chosenType = z.object({
  security: z
    .object({ auth: z.object({ selectedType: z.string() }) })
    .optional()
    .catch(undefined),
  /** The setting's name before version 0.3. */
  selectedAuthType: z.string().optional().catch(undefined),
});

function readChosenType(file: string): string | undefined {
  const settings = chosenType.safeParse(parseSettings(readText(file) ?? "{}")).data;
  return settings?.security?.auth.selectedType ?? settings?.selectedAuthType;
}

/** Other variables, such as a model, are meant for the user's own sessions. */
function readVariables(file: string): Record<string, string> {
  const text = readText(file);
  if (text === undefined) return {};
  const all = parseEnv(text);
  return Object.fromEntries(
    SIGN_IN_VARIABLES.flatMap((name) => {
      const value = all[name];
      return value === undefined || value === "" ? [] : [[name, value]];
    }),
  );
}

function typeByVariables(variables: Record<string, string>): string | undefined {
  if (variables["GOOGLE_GENAI_USE_GCA"] === "true") return "oauth-personal";
  if (variables["GOOGLE_GENAI_USE_VERTEXAI"] === "true") return "vertex-ai";
  return variables["GEMINI_API_KEY"] === undefined ? undefined : "gemini-api-key";
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
