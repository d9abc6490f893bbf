/** Remote MCP servers of the configuration, whose headers may refer to variables of the environment. */

import { z } from "zod";
import { parseJson } from "../platform/parse-json.ts";

export interface McpServerEntry {
  url: string;
  headers?: Record<string, string> | undefined;
  allowed_tools?: string[] | undefined;
}

const entry = () =>
  z.strictObject({
    // Google calls it: credentials would cross the network unencrypted otherwise.
    url: z.url({ protocol: /^https$/ }),
    headers: z.record(z.string().regex(/^[\w-]{1,64}$/), z.string().max(8_000)).optional(),
    allowed_tools: z.array(z.string().min(1).max(128)).min(1).max(100).optional(),
  });

export const mcpServers = () =>
  z
    .string()
    .transform(parseJson)
    .pipe(z.record(z.string().regex(/^[A-Za-z0-9][\w-]{0,40}$/), entry()));

const VARIABLE = /\$\{(\w+)\}/g;

type Environment = Readonly<Record<string, string | undefined>>;

/** The headers of a server with the variables filled in, or the first variable that is not set. */
export function headersOf(
  { headers = {} }: McpServerEntry,
  environment: Environment,
): { headers: Record<string, string> } | { missing: string } {
  let missing: string | undefined;
  const filled = Object.entries(headers).map(([name, value]) => [
    name,
    value.replaceAll(VARIABLE, (_whole, variable: string) => {
      const found = environment[variable]?.trim() ?? "";
      if (found === "") missing ??= variable;
      return found;
    }),
  ]);
  return missing === undefined ? { headers: Object.fromEntries(filled) } : { missing };
}

/** Headers whose values are ordinary words of every log. */
const PLAIN_HEADER = /^(?:accept|accept-\w+|content-type|user-agent)$/i;
/** Shorter parts of a path or a query are names, unless their parameter says otherwise. */
const MIN_UNNAMED_SECRET_CHARACTERS = 20;
const SECRET_PARAMETER = /key|token|secret|auth|pass|sig|code/i;

/** What may be a secret, for the redactor: values of headers and their variables, and what a URL may hold besides names. */
export function serverSecrets(
  servers: Readonly<Record<string, McpServerEntry>>,
  environment: Environment,
): Record<string, string | undefined> {
  const secrets: Record<string, string | undefined> = {};
  for (const [server, { url, headers = {} }] of Object.entries(servers)) {
    for (const [name, value] of Object.entries(headers).filter(([header]) => !PLAIN_HEADER.test(header))) {
      const variables = [...value.matchAll(VARIABLE)].map(([, variable = ""]) => variable);
      for (const variable of variables) secrets[variable] = environment[variable]?.trim();
      // Without `Bearer` or `Basic`.
      if (variables.length === 0) secrets[`${server} ${name}`] = value.replace(/^\w+ +/, "");
    }
    for (const [index, part] of secretParts(new URL(url)).entries()) secrets[`${server} url ${index + 1}`] = part;
  }
  return secrets;
}

/** As written and decoded: a server or Google may repeat either. */
function secretParts({ username, password, pathname, search }: URL): string[] {
  const query = search
    .slice(1)
    .split("&")
    .map((pair) => [pair.split("=", 1)[0] ?? "", pair.slice(pair.indexOf("=") + 1)] as const)
    .filter(([name, value]) => SECRET_PARAMETER.test(name) || value.length >= MIN_UNNAMED_SECRET_CHARACTERS)
    .map(([, value]) => value);
  const path = pathname.split("/").filter((part) => part.length >= MIN_UNNAMED_SECRET_CHARACTERS);
  const written = [username, password, ...query, ...path].filter((part) => part !== "");
  return [...new Set(written.flatMap((part) => [part, decoded(part), decoded(part.replaceAll("+", " "))]))];
}

/** Percent-encoded text, decoded where that is possible. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
