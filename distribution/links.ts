/** Deep links that add the server to a client with one click. */

import { FACTS } from "./facts.ts";

/** The newest version: a link in a document outlives the release that it was written for. */
const launch = { command: FACTS.command, args: [...FACTS.args, `${FACTS.package}@latest`] };
const [KEY] = FACTS.variables;
const KEY_VARIABLE = KEY?.name ?? "";

const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64");
/** Not URLSearchParams: its `+` for a space is not decoded by all of them. */
const query = (parameters: Record<string, string>): string =>
  Object.entries(parameters)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join("&");

/** https://cursor.com/docs/mcp/install-links: the key comes from Cursor's environment. */
const cursorLink = (): string =>
  `https://cursor.com/en/install-mcp?${query({
    name: FACTS.name,
    config: base64({ ...launch, env: { [KEY_VARIABLE]: `\${env:${KEY_VARIABLE}}` } }),
  })}`;

/** https://code.visualstudio.com/api/extension-guides/ai/mcp: VS Code asks for the key and stores it. */
const vscodeLink = (): string =>
  `https://vscode.dev/redirect/mcp/install?${query({
    name: FACTS.name,
    inputs: JSON.stringify([{ type: "promptString", id: "gemini_api_key", description: KEY?.title, password: true }]),
    config: JSON.stringify({ type: "stdio", ...launch, env: { [KEY_VARIABLE]: "${input:gemini_api_key}" } }),
  })}`;

/** https://lmstudio.ai/docs/app/mcp/deeplink: no references; the placeholder counts as no key. */
const lmStudioLink = (): string =>
  `https://lmstudio.ai/install-mcp?${query({
    name: FACTS.name,
    config: base64({ ...launch, env: { [KEY_VARIABLE]: "YOUR_API_KEY_HERE" } }),
  })}`;

export const deepLinks = (): { client: string; url: string; note: string }[] => [
  { client: "Cursor", url: cursorLink(), note: `reads \`${KEY_VARIABLE}\` from its environment` },
  { client: "VS Code", url: vscodeLink(), note: "asks for the key and stores it" },
  { client: "LM Studio", url: lmStudioLink(), note: "put your key in place of the placeholder" },
];
