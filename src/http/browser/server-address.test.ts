import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../../config/config.ts";
import { operationSettings } from "../../operation-settings.ts";
import { addressesOf, addressOf, pageUrl } from "./server-address.ts";

test("a link names the address it is for, which the server at that address recognises (A9)", () => {
  for (const host of ["127.0.0.1", "localhost", "::1", "0.0.0.0", "::", "research.lan"]) {
    for (const port of [80, 3_000]) expect(addressesOf(host, port)[0]).toBe(addressOf(pageUrl(host, port)));
  }
  expect(addressesOf("127.0.0.1", 3_000)).toEqual(["127.0.0.1:3000", "localhost:3000"]);
  expect(addressesOf("localhost", 3_000)).toEqual(["localhost:3000", "127.0.0.1:3000", "[::1]:3000"]);
  expect(addressesOf("Research.lan", 80)).toEqual(["research.lan"]);
  expect(addressesOf("0.0.0.0", 3_000)).toEqual(
    expect.arrayContaining(["127.0.0.1:3000", "[::1]:3000", "localhost:3000"]),
  );
});

test.for([
  [{}, "http://127.0.0.1:3000"],
  [{ MCP_SERVER_HOST: "0.0.0.0", MCP_SERVER_PORT: "8080" }, "http://127.0.0.1:8080"],
  [{ MCP_SERVER_HOST: "::1" }, "http://[::1]:3000"],
  [{ MCP_SERVER_HOST: "localhost" }, "http://localhost:3000"],
  [{ MCP_PUBLIC_URL: "https://research.example.com" }, "https://research.example.com"],
] as const)(
  "with %j, addresses of runs begin with %s, as the sign-in link does (Y4)",
  ([environment, url], context) => {
    const home = mkdtempSync(join(tmpdir(), "settings-"));
    context.onTestFinished(() => rmSync(home, { recursive: true }));
    const config = loadConfig({ environment, platform: "linux", home });
    expect(operationSettings(config).publicUrl).toBe(url);
  },
);
