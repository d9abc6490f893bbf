/** `dashboard` and `serve --open` of the built program: they find or start a server, and print no token. */

import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { openHttpScene, startHttpServer } from "../kit/server/http-server.ts";
import { destinationOf } from "../kit/browser/page-session.ts";
import { ask } from "../kit/server/raw-request.ts";
import { openScene } from "../kit/server/scene.ts";
import { temporaryDirectory } from "../kit/server/server.ts";
import { waitFor } from "../kit/wait-for.ts";

const LINK = /^(http:\/\/127\.0\.0\.1:\d+)(\/enter\/[\w-]{43}\S*)$/m;
const RUN = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff";
const HTML = { accept: "text/html" };

/** Another program on a port of this machine. */
async function occupy(context: { onTestFinished(close: () => void): void }, answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  context.onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return String(typeof address === "object" && address !== null ? address.port : 0);
}

/** A program that only records what it was asked to show. */
function fakeBrowser(directory: string): { program: string; asked(): Promise<string> } {
  const [program, seen] = [join(directory, "browser"), join(directory, "seen")];
  writeFileSync(program, `#!/bin/sh\nprintf '%s' "$1" > '${seen}.new' && mv '${seen}.new' '${seen}'\n`);
  chmodSync(program, 0o755);
  return { program, asked: () => waitFor(() => readFileSync(seen, "utf8")) };
}

describe("dashboard (A9)", () => {
  test("prints a link to the running server, which opens the requested run", async (context) => {
    const scene = await openHttpScene(context);
    const server = await scene.http();
    const env = { MCP_AUTH_TOKEN: server.token };
    const args = ["dashboard", "--port", String(server.port), "--no-open"];
    const { code, stdout, stderr } = await scene.command(args, { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const [, url, path = ""] = LINK.exec(stdout) ?? [];
    expect(url).toBe(server.url);
    const first = await ask(server, { path, headers: HTML });
    expect([first.status, destinationOf(first.body)]).toEqual([200, "/"]);

    const json = await scene.command([...args, "--json", "--run", RUN], { env });
    const answer = JSON.parse(json.stdout);
    expect(answer).toEqual({ success: true, url: expect.stringMatching(LINK), opened: false, started: false });
    const second = await ask(server, { path: answer.url.slice(server.url.length), headers: HTML });
    expect(destinationOf(second.body)).toBe(`/runs/${RUN}`);
    expect(stdout + json.stdout).not.toContain(server.token);
  });

  test("opens the user's browser through a private file, waits for it, and says so if there is no browser", async (context) => {
    const scene = await openHttpScene(context);
    const server = await scene.http();
    const browser = fakeBrowser(scene.configDir);
    const args = ["dashboard", "--port", String(server.port)];
    const started = scene.startCommand(args, { env: { MCP_AUTH_TOKEN: server.token, BROWSER: browser.program } });
    const file = fileURLToPath(await browser.asked());
    expect([file, dirname(file)].map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o700]);
    const [, path = ""] = /url=http:\/\/127\.0\.0\.1:\d+(\/enter\/[\w-]{43})"/.exec(readFileSync(file, "utf8")) ?? [];
    expect((await ask(server, { path, headers: HTML })).status).toBe(200);
    const { code, stdout, stderr } = await started.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.trim()).toBe(`${server.url}${path}`);
    expect(existsSync(dirname(file))).toBe(false);
    const none = await scene.command(args, { env: { MCP_AUTH_TOKEN: server.token, BROWSER: "none" } });
    expect(none).toMatchObject({ code: 0, stdout: expect.stringMatching(LINK) });
    expect(none.stderr).toBe("Couldn't open a browser (BROWSER is none). Open the link above.\n");
  });

  test("removes the private file when it is stopped before a browser opened it", async (context) => {
    const scene = await openHttpScene(context);
    const server = await scene.http();
    const browser = fakeBrowser(scene.configDir);
    const args = ["dashboard", "--port", String(server.port), "--json"];
    const started = scene.startCommand(args, { env: { MCP_AUTH_TOKEN: server.token, BROWSER: browser.program } });
    const said = new Promise((resolve) => void started.child.stdout.once("data", resolve));
    const file = fileURLToPath(await browser.asked());
    // It prints the link first, and then waits.
    await said;
    started.child.kill("SIGINT");
    expect((await started.ended).code).toBe(130);
    expect(existsSync(dirname(file))).toBe(false);
  });

  test("serves the page itself if no server runs, until it is stopped", async (context) => {
    const scene = await openScene(context);
    const started = scene.startCommand(["dashboard", "--port", "0", "--no-open"]);
    const link = await new Promise<string>((resolve) => {
      started.child.stdout.on("data", (text: string) => resolve(text.trim()));
    });
    const [, url = "", path = ""] = LINK.exec(link) ?? [];
    expect((await ask({ url }, { path, headers: HTML })).status).toBe(200);
    expect((await ask({ url }, { path: "/health", headers: {} })).status).toBe(200);
    expect(started.stderr()).toContain("A server was started. Press Ctrl-C to stop it.");
    started.child.kill("SIGINT");
    expect(await started.ended).toMatchObject({ code: 0, stdout: `${link}\n` });
  });

  test("reports another program on the port, and sends it no token", async (context) => {
    const scene = await openScene(context);
    const asked: string[] = [];
    const note: RequestListener = (request) => asked.push(`${request.url} ${request.headers.authorization ?? ""}`);
    const ports = await Promise.all([
      occupy(context, (request, response) => void (note(request, response), response.end("hello"))),
      occupy(context, (request, response) => {
        note(request, response);
        response.setHeader("content-type", "application/json").end('{"status":"healthy","service":"another"}');
      }),
    ]);
    for (const port of ports) {
      const { code, stdout, stderr } = await scene.command(["dashboard", "--port", port, "--json"]);
      expect(code).toBe(1);
      expect(stderr).toContain(`INVALID_INPUT: Another program answers at http://127.0.0.1:${port}.`);
      expect(stderr).toContain("--port");
      expect(JSON.parse(stdout)).toMatchObject({ success: false, error: { code: "INVALID_INPUT" } });
    }
    expect(asked).toEqual(["/health ", "/health "]);
  });

  test("reports a server with an unknown token or an older version, and works without authentication", async (context) => {
    const scene = await openHttpScene(context);
    const server = await scene.http();
    const args = (port: number | string) => ["dashboard", "--port", String(port), "--no-open"];
    const { code, stdout, stderr } = await scene.command(args(server.port));
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("is not known to this installation.");
    expect(stderr).toContain("MCP_AUTH_TOKEN");
    const wrong = await scene.command(args(server.port), { env: { MCP_AUTH_TOKEN: "another-token-than-the-servers" } });
    const path = wrong.stdout.trim().slice(server.url.length);
    expect((await ask(server, { path, headers: HTML })).body).toContain("a different token than this server has now");
    const elsewhere = await startHttpServer({ configDir: temporaryDirectory() });
    context.onTestFinished(() => elsewhere.close());
    const other = await scene.command(args(elsewhere.port), { env: { MCP_AUTH_TOKEN: elsewhere.token } });
    const unknown = await ask(elsewhere, { path: other.stdout.trim().slice(elsewhere.url.length), headers: HTML });
    expect([unknown.status, unknown.body]).toEqual([401, expect.stringContaining("with another config directory")]);
    const older = await occupy(context, ({ url }, response) => {
      response.statusCode = url === "/health" ? 200 : 404;
      response.setHeader("content-type", "application/json").end('{"service":"gemini-search-mcp"}');
    });
    const old = await scene.command(args(older));
    expect(old.code).toBe(1);
    expect(old.stderr).toContain("did not return a link to its page.");
    const open = await scene.http({ args: ["--no-auth"] });
    expect(await scene.command(args(open.port))).toEqual({ code: 0, stdout: `${open.url}/\n`, stderr: "" });
    const run = await scene.command([...args(open.port), "--run", RUN]);
    expect(run.stdout).toBe(`${open.url}/runs/${RUN}\n`);
    await scene.command(["search", "What is a heat pump?"]);
    const [id = ""] = (await scene.command(["list"])).stdout.split("\t");
    const short = await scene.command([...args(open.port), "--run", id.slice(0, 6)]);
    expect(short.stdout).toBe(`${open.url}/runs/${id}\n`);
    const opened = await scene.command(["open", id.slice(0, 8), "--port", String(open.port), "--no-open"]);
    expect(opened.stdout).toBe(`${open.url}/runs/${id}\n`);
    const newest = await scene.command(["open", "--port", String(open.port), "--no-open"]);
    expect(newest).toMatchObject({ stdout: `${open.url}/runs/${id}\n`, stderr: expect.stringContaining("Newest run") });
    const home = await scene.command(["open", "--home", "--port", String(open.port), "--no-open"]);
    expect(home).toEqual({ code: 0, stdout: `${open.url}/\n`, stderr: "" });
    const missing = await scene.command([...args(open.port), "--run", id.startsWith("ffffff") ? "000000" : "ffffff"]);
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("There is no run whose id begins")]);
  });

  test("sends no token to a program that only claims to be this server", async (context) => {
    const scene = await openScene(context);
    const received: string[] = [];
    const port = await occupy(context, (request, response) => {
      received.push(JSON.stringify([request.url, request.headers, request.rawHeaders]));
      response.statusCode = request.url === "/health" ? 200 : 401;
      response.setHeader("content-type", "application/json").end('{"service":"gemini-search-mcp"}');
    });
    const token = "the-token-that-must-not-be-told";
    const env = { MCP_AUTH_TOKEN: token };
    expect((await scene.command(["dashboard", "--port", port, "--no-open"], { env })).stdout).toMatch(LINK);
    expect(received).toHaveLength(2);
    expect(received.join("")).not.toContain(token);
    expect(received.join("")).not.toContain("authorization");
  });

  test("prints a link that opens the server it was made for and no other of the installation (A9)", async (context) => {
    const scene = await openHttpScene(context);
    const [server, other] = [await scene.http(), await scene.http()];
    const env = { MCP_AUTH_TOKEN: server.token };
    const made = await scene.command(["dashboard", "--port", String(server.port), "--no-open"], { env });
    const [, , path = ""] = LINK.exec(made.stdout) ?? [];
    // As a program on one port may replay it at another, under any name.
    for (const host of [`127.0.0.1:${other.port}`, `127.0.0.1:${server.port}`, `localhost:${server.port}`]) {
      const replayed = await ask(other, { path, headers: { ...HTML, host } });
      expect([replayed.status, replayed.headers["set-cookie"]]).toEqual([401, undefined]);
    }
    expect((await ask(server, { path, headers: HTML })).status).toBe(200);
    const link = await server.request("/api/links", { method: "POST" });
    const { path: second } = z.object({ path: z.string() }).parse(await link.json());
    expect((await ask(other, { path: second, headers: HTML })).status).toBe(401);
    expect((await ask(server, { path: second, headers: HTML })).status).toBe(200);
  });

  test("finds the server of its config directory on any port, by a private record that goes with it (A9)", async (context) => {
    const scene = await openHttpScene(context);
    const record = join(scene.configDir, "server.json");
    // Of a process that is gone, or damaged: neither counts.
    writeFileSync(record, "{");
    const server = await scene.http();
    await waitFor(() => expect(JSON.parse(readFileSync(record, "utf8"))).toMatchObject({ url: server.url }));
    expect(statSync(record).mode & 0o777).toBe(0o600);
    const env = { MCP_AUTH_TOKEN: server.token };
    const made = await scene.command(["open", "--home", "--no-open"], { env });
    const [, url = "", path = ""] = LINK.exec(made.stdout) ?? [];
    expect([made.code, made.stderr, url]).toEqual([0, "", server.url]);
    expect((await ask(server, { path, headers: HTML })).status).toBe(200);
    await server.close();
    expect(existsSync(record)).toBe(false);
  });

  test("rejects an invalid run id", async (context) => {
    const scene = await openScene(context);
    expect((await scene.command(["dashboard", "--run", "../x"])).code).toBe(2);
  });
});

test("serve --open prints a working link, continues without a browser, and prints no token (A9)", async (context) => {
  const scene = await openHttpScene(context);
  const server = await scene.http({ args: ["--open"], env: { BROWSER: "none" } });
  await waitFor(() => expect(server.stderr()).toContain("Open the link above."));
  const [, path = ""] = /Page: http:\/\/127\.0\.0\.1:\d+(\/enter\/\S+)/.exec(server.stderr()) ?? [];
  expect((await ask(server, { path, headers: HTML })).status).toBe(200);
  expect(server.stderr()).not.toContain(server.token);
  expect(server.stdout()).toBe("");
});

test("serve without a terminal prints no link (A9)", async (context) => {
  const server = await (await openHttpScene(context)).http();
  await server.request("/health");
  expect(server.stderr()).not.toContain("/enter/");
});
