import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isPagePath, safeRedirect } from "./browser/paths.ts";
import { addressesOf, addressOf, createOriginCheck, pageUrl } from "./host-guard.ts";
import { loadConfig } from "../config/config.ts";
import { operationSettings } from "../operation-settings.ts";

interface Asked {
  method?: string;
  host?: string;
  origin?: string;
  site?: string;
  mode?: string;
  dest?: string;
}

function request({ method = "GET", host = "127.0.0.1:3000", origin, site, mode, dest }: Asked): Request {
  const values = { host, origin, "sec-fetch-site": site, "sec-fetch-mode": mode, "sec-fetch-dest": dest };
  const headers = Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return new Request("http://127.0.0.1:3000/", { method, headers });
}

const { mayUsePage, isSameOrigin } = createOriginCheck("https://research.example/base");

describe("whether a request may use the page (A9)", () => {
  test.each<[string, Asked, boolean]>([
    ["a program that is no browser", {}, true],
    ["our page reads", { site: "same-origin", mode: "cors", dest: "empty" }, true],
    ["our page acts", { method: "POST", origin: "http://127.0.0.1:3000", site: "same-origin" }, true],
    ["our page acts where there is no Sec-Fetch-Site", { method: "POST", origin: "http://127.0.0.1:3000" }, true],
    ["our page behind a proxy with TLS", { host: "box.lan", method: "POST", origin: "https://box.lan" }, true],
    ["our page at its public address", { method: "POST", origin: "https://research.example" }, true],
    ["the user types the address", { site: "none", mode: "navigate", dest: "document" }, true],
    ["a link on a page of another site", { site: "cross-site", mode: "navigate", dest: "document" }, true],
    ["a link on another port", { site: "same-site", mode: "navigate", dest: "document" }, true],
    ["a form of our own page with no-referrer", { method: "POST", origin: "null", site: "same-origin" }, true],

    [
      "another port of this machine acts",
      { method: "POST", origin: "http://127.0.0.1:5173", site: "same-site" },
      false,
    ],
    ["another port, without Sec-Fetch-Site", { method: "POST", origin: "http://127.0.0.1:5173" }, false],
    ["another name of this machine", { method: "POST", origin: "http://localhost:3000" }, false],
    ["the same name without the port", { method: "POST", origin: "http://127.0.0.1" }, false],
    ["another port reads", { site: "same-site", mode: "cors", dest: "empty" }, false],
    ["another port loads an image", { site: "same-site", mode: "no-cors", dest: "image" }, false],
    ["another site loads a script", { site: "cross-site", mode: "no-cors", dest: "script" }, false],
    ["another site shows a frame", { site: "cross-site", mode: "navigate", dest: "iframe" }, false],
    ["another site's form", { method: "POST", site: "cross-site", mode: "navigate", dest: "document" }, false],
    ["a page in a sandbox", { method: "POST", origin: "null", site: "cross-site" }, false],
    ["a file", { method: "POST", origin: "null" }, false],
    ["the public name with a port", { method: "POST", origin: "https://research.example:444" }, false],
    ["the public name without TLS", { method: "POST", origin: "http://research.example" }, false],
    ["a name that begins like ours", { method: "POST", origin: "http://127.0.0.1:30001" }, false],
    ["an empty origin", { method: "POST", origin: "" }, false],
    ["a made-up site", { site: "elsewhere" }, false],
  ])("%s", (_what, asked, allowed) => {
    expect(mayUsePage(request(asked))).toBe(allowed);
  });

  test("is false for other origins: without an Origin header, and without a public address under another name", () => {
    expect(isSameOrigin(request({}))).toBe(false);
    expect(createOriginCheck(undefined).isSameOrigin(request({ origin: "https://research.example" }))).toBe(false);
  });
});

describe("paths of the page (A9)", () => {
  test.each([
    "/",
    "/costs",
    "/figures",
    "/notifications",
    "/runs/1",
    "/assets/page.js",
    "/api/live",
    "/sign-in",
    "/sign-out",
    "/enter/x",
  ])("%s belongs to the page", (path) => expect(isPagePath(path)).toBe(true));
  test.each(["/mcp", "/mcp/", "/health", "//mcp", "/API/runs", "/api", "/.well-known/api/", "/startle", "/x/api/"])(
    "%s does not belong to the page",
    (path) => expect(isPagePath(path)).toBe(false),
  );

  const RUN = "/runs/6f9619ff-8b86-4d01-b42d-00cf4fc964ff";
  test.each([
    "/",
    "/costs",
    "/figures",
    "/notifications",
    RUN,
    `${RUN}?a=b`,
    "/?status=failed&text=heat+pumps%20",
    "/?text=a,b*(c)!~'d':{e|f}",
  ])("%s is a valid destination", (place) => expect(safeRedirect(place)).toBe(place));
  test.each([
    null,
    undefined,
    "",
    "//evil.example",
    "/\\evil.example",
    "https://evil.example/",
    "/figures/../mcp",
    "/api/runs",
    "/enter/x",
    "/sign-out",
    "/runs/x",
    "/?a=\r\nSet-Cookie: b",
    "/figures#x",
    '/?"><script>',
    "/?a\\b",
    "/?a#b",
    "/?<a",
    "/?a b",
    "/?a\u0000",
  ])("%j is not a redirect target", (place) => expect(safeRedirect(place)).toBe("/"));
});

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
