/** Host and Origin checks on every route, against web pages and DNS rebinding. */

import type { IncomingHttpHeaders } from "node:http";
import { describe, expect, test } from "vitest";
import { interfaceAddresses, urlHost } from "../../src/http/host-guard.ts";
import { openHttpScene } from "../kit/server/http-server.ts";
import { ask } from "../kit/server/raw-request.ts";

const HOSTS: [string, "in" | "out" | "broken"][] = [
  ["localhost", "in"],
  ["127.0.0.1:1", "in"],
  ["LOCALHOST:3000", "in"],
  ["[::1]:3000", "in"],
  ["research.example:8443", "in"],
  ["any.example", "in"],
  ["app.example", "out"],
  ["evil.example", "out"],
  ["localhost.evil.example", "out"],
  ["127.0.0.1.evil.example", "out"],
  ["research.example.evil.example", "out"],
  ["192.168.1.7", "out"],
  ["0.0.0.0", "out"],
  ["localhost@evil.example", "broken"],
  ["evil.example@localhost", "broken"],
];

const ORIGINS: [string | undefined, "in" | "out"][] = [
  [undefined, "in"],
  ["http://localhost:5173", "in"],
  ["https://127.0.0.1", "in"],
  ["http://[::1]:8080", "in"],
  ["https://app.example", "in"],
  ["https://any.example:444", "in"],
  ["https://research.example", "in"],
  ["https://app.example:444", "out"],
  ["http://app.example", "out"],
  ["https://evil.example", "out"],
  ["http://localhost.evil.example", "out"],
  ["http://evil.example@localhost", "out"],
  ["null", "out"],
  ["", "out"],
  ["file://", "out"],
  ["chrome-extension://abcdefgh", "out"],
];

const ENV = { MCP_ALLOWED_HOSTS: "any.example, https://app.example", MCP_PUBLIC_URL: "https://research.example/base" };

/** Path → the status for a caller with valid Host and Origin, without and with the token. */
const ROUTES: [string, number, number][] = [
  ["/health", 200, 200],
  ["/.well-known/oauth-protected-resource", 404, 404],
  ["/.well-known/anything/else", 404, 404],
  ["/mcp", 401, 405],
  // A token in a header is for programs, which do not need the page itself.
  ["/", 401, 401],
  ["/assets/page.js", 401, 401],
  ["/api/links", 401, 404],
  ["/no/such/address", 401, 404],
];

interface Coming {
  host: string;
  origin: string;
  path: string;
}

/** Public routes can be read by browsers of every origin, without a token. */
function expected({ host, origin, path }: Coming, status: number): number {
  if (host === "broken") return 400;
  const letIn = host === "in" && (origin === "in" || path.startsWith("/.well-known/"));
  return letIn ? status : 403;
}

/** The security headers that a response lacks. */
function missingHeaders(headers: IncomingHttpHeaders): string[] {
  const policy = String(headers["content-security-policy"]);
  return [
    ...(headers["x-content-type-options"] === "nosniff" ? [] : ["x-content-type-options"]),
    ...(policy.includes("default-src 'none'") && policy.includes("frame-ancestors 'none'") ? [] : ["policy"]),
    ...(headers["cache-control"] === "no-store" ? [] : ["cache-control"]),
  ];
}

describe("Host and Origin checks (A9)", () => {
  test(`cover ${HOSTS.length * ORIGINS.length} pairs on ${ROUTES.length} routes, with and without a token`, async (context) => {
    const server = await (await openHttpScene(context)).http({ env: ENV });
    const wrong: string[] = [];
    for (const [host, hostKind] of HOSTS) {
      for (const [origin, originKind] of ORIGINS) {
        const headers = { host, ...(origin === undefined ? {} : { origin }) };
        const asked = ROUTES.flatMap(([path, without, withToken]) => [
          { path, headers, status: without },
          { path, headers: { ...headers, authorization: `Bearer ${server.token}` }, status: withToken },
        ]);
        const answers = await Promise.all(asked.map((one) => ask(server, one)));
        for (const [at, { path, status }] of asked.entries()) {
          const { status: got, body, headers: returned } = answers[at] ?? { status: 0, body: "", headers: {} };
          const want = expected({ host: hostKind, origin: originKind, path }, status);
          if (got !== want) wrong.push(`${host} ${origin} ${path}: ${got}, not ${want}`);
          if (hostKind !== "broken") wrong.push(...missingHeaders(returned).map((name) => `${path}: ${name}`));
          if (typeof JSON.parse(body) !== "object") wrong.push(`${host} ${origin} ${path}: ${body}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  test("a browser's preflight is answered for allowed origins only (A9)", async (context) => {
    const server = await (await openHttpScene(context)).http({ env: ENV });
    const preflight = (origin: string) =>
      ask(server, {
        method: "OPTIONS",
        path: "/mcp",
        headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "authorization" },
      });
    const { status, headers } = await preflight("https://app.example");
    expect(status).toBe(204);
    expect(headers).toMatchObject({
      "access-control-allow-origin": "https://app.example",
      "access-control-allow-methods": "GET,POST,DELETE",
      vary: expect.stringContaining("Origin"),
    });
    const allowed = String(headers["access-control-allow-headers"]).toLowerCase().split(",");
    const needed = [
      "authorization",
      "content-type",
      "mcp-session-id",
      "mcp-protocol-version",
      "mcp-method",
      "mcp-name",
    ];
    expect(allowed).toEqual(expect.arrayContaining(needed));
    const refused = await preflight("https://evil.example");
    expect(refused.status).toBe(403);
    expect(refused.headers).not.toHaveProperty("access-control-allow-origin");

    const authorization = `Bearer ${server.token}`;
    const read = await ask(server, { path: "/mcp", headers: { origin: "https://app.example", authorization } });
    expect(read.headers).toMatchObject({
      "access-control-allow-origin": "https://app.example",
      "access-control-expose-headers": expect.stringContaining("Mcp-Session-Id"),
    });
    expect(read.headers).not.toHaveProperty("access-control-allow-credentials");
  });

  test("a server for other machines answers under its own addresses, says so, and rejects other host names (A9)", async (context) => {
    const server = await (await openHttpScene(context)).http({ args: ["--host", "0.0.0.0"] });
    expect(server.stderr()).toMatch(/^\[WARN\] .*MCP_ALLOWED_HOSTS/m);
    const status = async (host: string): Promise<number> =>
      (await ask(server, { path: "/health", headers: { host } })).status;
    expect(await status(`127.0.0.1:${server.port}`)).toBe(200);
    expect(await status(`0.0.0.0:${server.port}`)).toBe(200);
    expect(await status("rebound.example")).toBe(403);
  });

  test("an allowed origin is no host name: a server for other machines keeps its own addresses (A9)", async (context) => {
    const env = { MCP_ALLOWED_HOSTS: "https://app.example" };
    const server = await (await openHttpScene(context)).http({ args: ["--host", "0.0.0.0"], env });
    expect(server.stderr()).toMatch(/^\[WARN\] .*MCP_ALLOWED_HOSTS names no host/m);
    const addresses = interfaceAddresses("0.0.0.0").map(urlHost);
    const answers = addresses.map((host) => ask(server, { path: "/health", headers: { host } }));
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(addresses.map(() => 200));
    expect((await ask(server, { path: "/health", headers: { host: "app.example" } })).status).toBe(403);
  });
});
