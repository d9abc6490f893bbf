/** A chat client in a real browser: shows the run card in a sandboxed frame and relays its calls to a real server. */

import type { CallToolResult, Client, Tool } from "@modelcontextprotocol/client";
import { getToolUiResourceUri } from "@modelcontextprotocol/ext-apps/app-bridge";
import type { Browser, BrowserContextOptions, Frame, Page } from "playwright-core";
import { build } from "rolldown";
import { z } from "zod";

/** What a client that shows MCP Apps declares. */
export const UI_CAPABILITIES = {
  extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } },
};

/** No request of the browser leaves it: the test answers all of them. */
const ORIGIN = "http://chat.test";

/** The policy that the specification prescribes for a resource without declared domains. */
const CARD_POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; connect-src 'none'; frame-src 'none'; base-uri 'self'";

interface Received {
  name: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- the parameters of any request
  params: any;
}

export interface ChatHost {
  page: Page;
  card: Frame;
  /** Requests of the card, the newest last. */
  received: Received[];
  calls: (tool: string) => Received[];
  /** Errors of the card and violations of its policies, and requests that were not for the card. */
  faults: string[];
  sendInput: (input: Record<string, unknown>) => Promise<void>;
  sendResult: (result: CallToolResult) => Promise<void>;
  setContext: (context: Record<string, unknown>) => Promise<void>;
  teardown: () => Promise<void>;
}

export interface ChatOptions {
  client: Client;
  /** The entry of the list whose card is shown. */
  tool: Partial<Tool>;
  theme?: "light" | "dark";
  displayMode?: "inline" | "fullscreen";
  question?: string;
  browserOptions?: BrowserContextOptions;
}

/** The tool's entry with one of the two keys that lead to the card. */
export function withKey(tool: Tool, key: "old" | "new"): Tool {
  const { ui, "ui/resourceUri": uri } = tool._meta ?? {};
  return { ...tool, _meta: key === "new" ? { ui } : { "ui/resourceUri": uri } };
}

let bundled: Promise<string> | undefined;

async function bundleHost(): Promise<string> {
  const { output } = await build({
    input: new URL("page/host-page.ts", import.meta.url).pathname,
    platform: "browser",
    write: false,
    output: { format: "iife", codeSplitting: false },
  });
  return output[0].code;
}

const readContents = z.object({
  contents: z.array(
    z.looseObject({ mimeType: z.literal("text/html;profile=mcp-app"), text: z.string(), _meta: z.looseObject({}) }),
  ),
});

export async function openChat(browser: Browser, options: ChatOptions): Promise<ChatHost> {
  const { client, tool, theme = "light", displayMode = "inline" } = options;
  const uri = getToolUiResourceUri(tool);
  if (uri === undefined) throw new Error("The tool has no card.");
  const [card] = readContents.parse(await client.readResource({ uri })).contents;
  const context = await browser.newContext({
    viewport: { width: 820, height: 900 },
    colorScheme: theme,
    reducedMotion: "reduce",
    ...options.browserOptions,
  });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const received: Received[] = [];
  const faults = collectFaults(page);
  await page.exposeBinding("received", (_source, name: string, params: unknown) => {
    received.push({ name, params });
    return name === "tools/call" ? callTool(client, params) : {};
  });
  await page.route("**/*", async (route) => {
    const path = new URL(route.request().url()).pathname;
    if (path === "/card") {
      const headers = { "content-type": "text/html", "content-security-policy": CARD_POLICY };
      await route.fulfill({ headers, body: card?.text ?? "" });
    } else if (path === "/") await route.fulfill({ contentType: "text/html", body: chatPage(options.question ?? "") });
    else {
      faults.push(`a request of ${route.request().url()}`);
      await route.abort();
    }
  });
  await page.goto(`${ORIGIN}/`);
  bundled ??= bundleHost();
  await page.evaluate(await bundled);
  const modes = { displayMode, availableDisplayModes: ["inline", "fullscreen"] };
  await page.evaluate(`chat.open("/card", ${JSON.stringify({ theme, ...modes })})`);
  const frame = page.frames().find((one) => one.url() === `${ORIGIN}/card`);
  if (frame === undefined) throw new Error("The card has no frame.");
  const evaluate = async (call: string, params: unknown): Promise<void> => {
    await page.evaluate(`chat.bridge().${call}(${JSON.stringify(params)}).then(() => undefined)`);
  };
  return {
    page,
    card: frame,
    received,
    faults,
    calls: (name) => received.filter((one) => one.name === "tools/call" && one.params.name === name),
    sendInput: (input) => evaluate("sendToolInput", { arguments: input }),
    sendResult: (result) => evaluate("sendToolResult", result),
    setContext: async (changed) => {
      await page.evaluate(`void chat.bridge().setHostContext(${JSON.stringify({ ...modes, theme, ...changed })})`);
    },
    teardown: () => evaluate("teardownResource", {}),
  };
}

const toolCall = z.object({ name: z.string(), arguments: z.record(z.string(), z.unknown()).optional() });

const callTool = (client: Client, params: unknown) => client.callTool(toolCall.parse(params), { timeout: 60_000 });

function collectFaults(page: Page): string[] {
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    if (/Content Security Policy|TrustedHTML|SecurityError/.test(message.text())) faults.push(message.text());
  });
  page.on("popup", () => faults.push("a window was opened"));
  return faults;
}

const chatPage = (question: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Chat</title><style>
:root { color-scheme: light dark; font: 16px/1.5 "DejaVu Sans", sans-serif; }
body { margin: 0; padding: 16px; background: light-dark(#ffffff, #212121); color: light-dark(#111, #eee); }
p { width: fit-content; max-width: 80%; margin: 0 0 16px auto; padding: 8px 14px; border-radius: 16px; background: light-dark(#eef1f5, #33363b); }
p:empty { display: none; }
iframe { display: block; width: 100%; height: var(--height, 120px); box-sizing: content-box; border: 1px solid light-dark(#d5d8dd, #444); border-radius: 12px; }
body[data-mode=fullscreen] { padding: 0; }
body[data-mode=fullscreen] p { display: none; }
body[data-mode=fullscreen] iframe { height: 100vh; border: 0; border-radius: 0; }
</style></head><body><p>${question}</p><iframe title="Research run" sandbox="allow-scripts"></iframe></body></html>`;
