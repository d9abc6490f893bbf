/** A dashboard without an API key: it says so, takes one, tests it and saves it. */

import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { browserOrSkip, enterPage } from "../kit/browser/browser.ts";
import { openHttpScene } from "../kit/server/http-server.ts";
import { ask } from "../kit/server/raw-request.ts";
import { TEST_KEY } from "../kit/server/server.ts";
import { waitFor } from "../kit/wait-for.ts";

const WITHOUT = { GEMINI_API_KEY: "" };

describe("without an API key", () => {
  test("the page takes one that Google accepts, saves it privately, and answers with it (A3, A9)", async (context) => {
    const browser = await browserOrSkip(context);
    const scene = await openHttpScene(context, "good");
    const server = await scene.http({ env: WITHOUT });
    const { page, pageErrors } = await enterPage(browser, server);
    await page.locator("#key:focus").waitFor();
    await page.fill("#question", "When is the next total solar eclipse?");
    await page.getByText("Add your API key first.").waitFor();
    expect(await page.locator("form.start [type=submit]").isDisabled()).toBe(true);
    await page.locator("#key").fill(TEST_KEY);
    await page.getByRole("button", { name: "Test and save" }).click();
    await page.locator("#key").waitFor({ state: "detached" });
    const file = join(scene.configDir, "config.json");
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ GEMINI_API_KEY: TEST_KEY });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await page.locator("form.start [type=submit]:enabled").click();
    await page.locator(".report-text").waitFor();
    // The app that had no key has ended, and took nothing with it.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect((await server.request("/api/runs")).status).toBe(200);
    expect(server.stderr().match(/No Gemini API key is set/g)).toHaveLength(1);
    expect(server.stderr() + server.stdout()).not.toContain(TEST_KEY);
    expect(pageErrors).toEqual([]);
  });

  test("research works with a key that was entered, and is polled (A3, I1)", async (context) => {
    const scene = await openHttpScene(context, {
      name: "research",
      interactions: { speed: 1_000, usage_after_ms: 0 },
    });
    const env = { ...WITHOUT, RESEARCH_SYNC_WINDOW_MS: "0", RESEARCH_POLL_INTERVAL_MS: "100" };
    const server = await scene.http({ env });
    const post = (path: string, body: unknown): Promise<Response> =>
      server.request(path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    expect((await post("/api/key", { key: TEST_KEY })).status).toBe(200);
    const started = await post("/api/research", { query: "How do heat pumps perform in cold climates?" });
    const { task_id: id } = (await started.json()) as { task_id: string };
    await waitFor(
      async () => {
        const run = (await (await server.request(`/api/runs/${id}`)).json()) as { status: string };
        expect(run.status).toBe("completed");
      },
      { timeout: 20_000, interval: 50 },
    );
  });

  test("a key that Google rejects is not saved; one without credits only if its user wants (A3)", async (context) => {
    const scene = await openHttpScene(context, { name: "refused", refuses: "key-invalid" });
    const server = await scene.http({ env: WITHOUT });
    const post = async (body: unknown): Promise<[number, string]> => {
      const headers = { "content-type": "application/json" };
      const response = await server.request("/api/key", { method: "POST", headers, body: JSON.stringify(body) });
      return [response.status, await response.text()];
    };
    const file = join(scene.configDir, "config.json");
    expect(await post({ key: TEST_KEY })).toEqual([400, expect.stringContaining("Google rejects this key")]);
    for (const key of ["", "short", "two words of a key", "line\nbreak-in-a-key", 5]) {
      expect(await post({ key })).toEqual([400, expect.stringContaining("This is not an API key")]);
    }
    expect(existsSync(file)).toBe(false);
    scene.gemini.setScenario({ name: "refused", refuses: "http-402" });
    expect(await post({ key: TEST_KEY })).toEqual([503, expect.stringContaining("used up")]);
    expect(existsSync(file)).toBe(false);
    expect((await post({ key: TEST_KEY, untested: true }))[0]).toBe(200);
    expect(existsSync(file)).toBe(true);
    expect(await post({ key: "another-key-of-someone" })).toEqual([400, expect.stringContaining("has a key already")]);
  });

  test("only a browser on the server's machine may enter it, as the operator and from the page itself (A3, A9)", async (context) => {
    const scene = await openHttpScene(context, "good");
    const other = (await scene.command(["token", "add", "anns"])).stdout.trim();
    const server = await scene.http({ env: { ...WITHOUT, MCP_ALLOWED_HOSTS: "research.example" } });
    const token = `Bearer ${server.token}`;
    const send = async (headers: Record<string, string>, type = "application/json"): Promise<number> => {
      const body = JSON.stringify({ key: TEST_KEY });
      const sent = { authorization: token, "content-type": type, ...headers };
      return (await ask(server, { method: "POST", path: "/api/key", headers: sent, body })).status;
    };
    expect(await send({ authorization: "" })).toBe(401);
    expect(await send({ authorization: `Bearer ${other}` })).toBe(403);
    expect(await send({ host: "research.example" })).toBe(403);
    for (const proxy of ["x-forwarded-for", "forwarded", "x-real-ip", "via"]) {
      expect(await send({ [proxy]: "127.0.0.1" }), proxy).toBe(403);
    }
    expect(await send({ origin: "https://elsewhere.example" })).toBe(403);
    expect(await send({}, "text/plain")).toBe(415);
    const shown = await ask(server, { path: "/api/key", headers: { authorization: token, via: "1.1 proxy" } });
    expect(JSON.parse(shown.body)).toEqual({ is_missing: true });
    expect(existsSync(join(scene.configDir, "config.json"))).toBe(false);
    expect(await send({})).toBe(200);
  });
});
