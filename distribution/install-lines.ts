/** The generated parts of docs/install.md: one line per client, and the entry for any other client. */

import { FACTS, PACKAGE } from "./facts.ts";
import { deepLinks } from "./links.ts";

const OWNER = FACTS.repository.replace("https://github.com/", "");
const [KEY] = FACTS.variables;

const rows = (): [string, string][] => [
  ["Any assistant that `init` knows", `\`npx -y ${FACTS.package}@latest init\``],
  [
    "Claude Code",
    `\`claude plugin marketplace add ${OWNER}\`, then \`claude plugin install ${FACTS.name}@${FACTS.package}\``,
  ],
  [
    "Claude Desktop",
    `open \`${FACTS.name}-${PACKAGE.version}.mcpb\` from the [releases](${FACTS.repository}/releases); it asks for the key`,
  ],
  ["Gemini CLI", `\`gemini extensions install ${FACTS.repository}\`; it asks for the key`],
  ["Antigravity CLI", "install the Gemini CLI extension, then `agy plugin import gemini`"],
  ...deepLinks().map(({ client, url, note }): [string, string] => [client, `[add to ${client}](${url}); ${note}`]),
  [
    "Codex, ChatGPT, Copilot, Kiro",
    `this repository is an [Agent Plugin](https://agent-plugins.org) (\`plugin.json\`, \`mcp.json\`, a skill)`,
  ],
];

const clientList = (): string =>
  rows()
    .map(([where, how]) => `- **${where}**: ${how}`)
    .join("\n");

const ownEntry = (): string =>
  JSON.stringify(
    { mcpServers: { [FACTS.name]: { command: FACTS.package, env: { [KEY?.name ?? ""]: "your key" } } } },
    undefined,
    2,
  ).replace(/\{\s+("GEMINI_API_KEY": "your key")\s+\}/, "{ $1 }");

const clientCommands = (): string[] => [
  `claude mcp add --scope user ${FACTS.name} --env ${KEY?.name}=… -- ${FACTS.package}`,
  `codex mcp add ${FACTS.name} --env ${KEY?.name}=… -- ${FACTS.package}`,
  `gemini mcp add --scope user -e ${KEY?.name}=… ${FACTS.name} ${FACTS.package}`,
];

const fenced = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``;

/** By the name of their marker. */
const installLines = (): Record<string, string> => ({
  "install-clients": clientList(),
  "install-entry": fenced("json", ownEntry()),
  "install-commands": fenced("sh", clientCommands().join("\n")),
});

/** Replaces the parts between `<!-- name -->` and `<!-- /name -->`. */
export function withInstallLines(document: string): string {
  let text = document;
  for (const [name, part] of Object.entries(installLines())) {
    const marked = new RegExp(String.raw`(<!-- ${name} -->\n\n)[\s\S]*?(\n\n<!-- /${name} -->)`);
    if (!marked.test(text)) throw new Error(`docs/install.md has no part ${name}.`);
    text = text.replace(marked, (_whole, begin: string, end: string) => `${begin}${part}${end}`);
  }
  return text;
}
