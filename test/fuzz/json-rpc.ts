/**
 * Fuzz target: whatever lines it receives, the stdio server writes only JSON-RPC and answers the next valid request
 * (A5, T16).
 */

import { PassThrough } from "node:stream";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import type { App } from "../../src/app.ts";
import { loadConfig } from "../../src/config/config.ts";
import { buildServer } from "../../src/mcp/server.ts";
import { trackSubscriptions } from "../../src/mcp/stdio/tracked-subscriptions.ts";
import { runEventsOf } from "../../src/mcp/resources/subscriptions.ts";
import { LOCAL_CALLER } from "../../src/caller.ts";
import { createShutdown } from "../../src/platform/shutdown.ts";
import { isRecord } from "../../src/platform/is-record.ts";
import { toolSet } from "../../src/config/tool-sets.ts";
import { closedDeps } from "./closed-deps.ts";
import { type FuzzTarget, must, mustBeUnpolluted, parsed } from "./target.ts";

const META =
  '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"f","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}';
const HELLO =
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"f","version":"1"}}}';

export const jsonRpc: FuzzTarget = {
  name: "JSON-RPC lines",
  seeds: [
    HELLO,
    `${HELLO}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
    `${HELLO}\n{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"search","arguments":{"query":"lakes"},"_meta":{"progressToken":1}}}`,
    `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"list_research","arguments":{},${META}}}`,
    `{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"research://runs",${META}}}`,
    `{"jsonrpc":"2.0","id":6,"method":"prompts/get","params":{"name":"x","arguments":{"topic":"y"},${META}}}`,
    `{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"notifications":{"resourcesListChanged":true},${META}}}`,
    '[{"jsonrpc":"2.0","id":8,"method":"ping"}]',
    '{"jsonrpc":"2.0","id":9,"result":{}}\n{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}',
  ],
  words: [
    '"method":"tools/call"',
    '"method":"resources/list"',
    '"method":"completion/complete"',
    '"method":"tasks/get"',
    '"method":"server/discover"',
    '"method":"logging/setLevel"',
    '"id":null',
    '"id":"x"',
    '"id":1.5',
    '"params":[]',
    '"params":{"__proto__":{}}',
    `"params":{${META}}`,
    '"jsonrpc":"1.0"',
    "\n",
    "\r\n",
  ],
  open: () => {
    const app = trialApp();
    let number = 0;
    return { check: (input) => checkLines(app, input, (number += 1)) };
  },
};

function trialApp(): App {
  const config = loadConfig({ environment: { GEMINI_SEARCH_CONFIG_DIR: "/dev/null/none" }, home: "/" });
  return {
    name: "gemini-search-mcp",
    version: "0.0.0",
    config,
    log: closedDeps.log,
    shutdown: createShutdown(() => {}),
    deps: closedDeps,
    openStore: async () => {},
    webhooks: () => {
      throw new Error("closed");
    },
    fleetStatus: () => Promise.reject(new Error("closed")),
    metrics: () => Promise.reject(new Error("closed")),
    startPolling: () => Promise.reject(new Error("closed")),
  };
}

async function checkLines(app: App, input: string, number: number): Promise<string> {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const { transport, notifyFrom } = trackSubscriptions(
    new StdioServerTransport(stdin, stdout),
    runEventsOf(app, LOCAL_CALLER.owner),
  );
  const handle = serveStdio(
    ({ era }) => {
      const server = buildServer(app, { caller: LOCAL_CALLER, protocolEra: era, tools: toolSet("all") });
      notifyFrom(server.server);
      return server;
    },
    { transport, onerror: () => {} },
  );
  const written: unknown[] = [];
  const id = `next-valid-${number}`;
  const { promise: answered, resolve } = Promise.withResolvers<void>();
  let pending = "";
  stdout.on("data", (chunk: Buffer) => {
    const lines = (pending + chunk.toString()).split("\n");
    pending = lines.pop() ?? "";
    for (const line of lines) {
      const message = parsed(line);
      written.push(message);
      if (isRecord(message) && message["id"] === id) resolve();
    }
  });
  stdin.write(`${input}\n{"jsonrpc":"2.0","id":"${id}","method":"ping"}\n`);
  await answered;
  await handle.close();
  stdin.destroy();
  stdout.destroy();
  mustBeUnpolluted();
  for (const message of written)
    must(isRecord(message) && message["jsonrpc"] === "2.0", "A5: only JSON-RPC is written.");
  return wayOf(written);
}

const wayOf = (written: unknown[]): string =>
  written
    .slice(0, 3)
    .map((message) => {
      const { error, result, method } = isRecord(message) ? message : {};
      return isRecord(error) ? String(error["code"]) : isRecord(result) ? Object.keys(result).join() : String(method);
    })
    .join(" ");
