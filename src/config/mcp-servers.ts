/** Remote MCP servers of the configuration, whose headers may refer to variables of the environment. */

import { z } from "zod";

export interface McpServerEntry {
  url: string;
  headers?: Record<string, string> | undefined;
  allowed_tools?: string[] | undefined;
}

const entry = z.strictObject({
  // Google calls it: credentials would cross the network unencrypted otherwise.
  url: z.url({ protocol: /^https$/ }),
  headers: z.record(z.string().regex(/^[\w-]{1,64}$/), z.string().max(8_000)).optional(),
  allowed_tools: z.array(z.string().min(1).max(128)).min(1).max(100).optional(),
});

export const mcpServers = z
  .string()
  .transform(parsed)
  .pipe(z.record(z.string().regex(/^[A-Za-z0-9][\w-]{0,40}$/), entry));

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The headers of a server with the variables filled in, or the first variable that is not set. */
export function headersOf(
  { headers = {} }: McpServerEntry,
  environment: Environment,
): { headers: Record<string, string> } | { missing: string } {
  let missing: string | undefined;
  const filled = Object.entries(headers).map(([name, value]) => [
    name,
    value.replaceAll(/\$\{(\w+)\}/g, (_whole, variable: string) => {
      const found = environment[variable]?.trim() ?? "";
      if (found === "") missing ??= variable;
      return found;
    }),
  ]);
  return missing === undefined ? { headers: Object.fromEntries(filled) } : { missing };
}

const SECRET_HEADER = /auth|key|token|secret|cookie/i;

/** The values for the redactor: every variable in a header, and headers that hold a secret. Others may be plain words. */
export function headerValues(
  servers: Readonly<Record<string, McpServerEntry>>,
  environment: Environment,
): Record<string, string | undefined> {
  const values: Record<string, string | undefined> = {};
  for (const [server, { headers = {} }] of Object.entries(servers)) {
    for (const [name, value] of Object.entries(headers)) {
      if (SECRET_HEADER.test(name)) values[`${server} ${name}`] = value;
      for (const [, variable = ""] of value.matchAll(/\$\{(\w+)\}/g)) values[variable] = environment[variable]?.trim();
    }
  }
  return values;
}
