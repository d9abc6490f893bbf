/** Signing in and out in a real browser: through the private file, with the link of another user, and with the button. */

import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test, type TestContext } from "vitest";
import type { Page } from "playwright-core";
import { z } from "zod";
import { browserOrSkip, openBrowser, openPage } from "../kit/browser/browser.ts";
import { openHttpScene, type RunningHttpServer } from "../kit/server/http-server.ts";
import { waitFor } from "../kit/wait-for.ts";

const NAME = "research.example";
/** An address without TLS that is not loopback: a browser sends no Origin there. */
const FAR = [`--host-resolver-rules=MAP ${NAME} 127.0.0.1`, "--no-proxy-server"];

/** `dashboard` with a browser that only records the file. */
async function dashboard(context: TestContext) {
  const scene = await openHttpScene(context);
  const server = await scene.http({ env: { MCP_ALLOWED_HOSTS: NAME } });
  const [program, seen] = [join(scene.configDir, "browser"), join(scene.configDir, "seen")];
  writeFileSync(program, `#!/bin/sh\nprintf '%s' "$1" > '${seen}.new' && mv '${seen}.new' '${seen}'\n`);
  chmodSync(program, 0o755);
  const command = scene.startCommand(["dashboard", "--port", String(server.port)], {
    env: { MCP_AUTH_TOKEN: server.token, BROWSER: program },
  });
  const address = await waitFor(() => readFileSync(seen, "utf8"));
  return { server, command, address, file: fileURLToPath(address) };
}

describe("the private file that opens the page from the terminal (A9)", () => {
  test("signs the browser in at once, and is deleted then", async (context) => {
    const browser = await openBrowser(context);
    if (browser === undefined) return context.skip();
    const { server, command, address, file } = await dashboard(context);
    const { page, pageErrors } = await openPage(browser, server.url);
    await page.goto(address);
    await page.waitForURL(`${server.url}/`);
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    expect((await command.ended).code).toBe(0);
    expect(existsSync(dirname(file))).toBe(false);
    expect(pageErrors).toEqual([]);
    await page.reload();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Token").waitFor();
    return undefined;
  });

  test("also works for a browser that sends no origin, which can sign out again", async (context) => {
    const browser = await openBrowser(context, FAR);
    if (browser === undefined) return context.skip();
    const { server, address, file } = await dashboard(context);
    const far = `http://${NAME}:${server.port}`;
    writeFileSync(file, readFileSync(file, "utf8").replaceAll(server.url, far));
    const { page } = await openPage(browser, far);
    await page.goto(address);
    await page.waitForURL(`${far}/`);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Token").waitFor();
    await page.reload();
    await page.getByLabel("Token").waitFor();
    return undefined;
  });
});

/** A browser at a server with two named users. */
async function twoUsers(context: TestContext) {
  const browser = await browserOrSkip(context);
  const scene = await openHttpScene(context);
  const server = await scene.http();
  const tokenOf = async (name: string): Promise<string> => (await scene.command(["token", "add", name])).stdout.trim();
  const [ann, ben] = [await tokenOf("ann"), await tokenOf("ben")];
  const { page, pageErrors } = await openPage(browser, server.url);
  return { server, ann, ben, page, pageErrors };
}

async function linkOf(server: RunningHttpServer, token: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await server.request("/api/links", { method: "POST", headers });
  return z.object({ path: z.string() }).parse(await response.json()).path;
}

async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
}

/** A view whose request is refused goes to the sign-in page by itself, even while it is still loading. */
async function endSession(page: Page): Promise<void> {
  await page.goto("about:blank");
  await page.context().clearCookies();
  await page.goto("/", { waitUntil: "commit" });
}

const userIn = (page: Page) => page.locator("header .user").textContent();

describe("a browser that several people use", () => {
  test("shows who is signed in, and a link of somebody else replaces nobody without a question (T13)", async (context) => {
    const { server, ann, ben, page, pageErrors } = await twoUsers(context);
    await page.goto("/");
    await signIn(page, ann);
    expect(await userIn(page)).toBe("Signed in as ann");
    const other = await page.context().newPage();
    await other.goto("/costs");
    const stored = (): Promise<unknown> => page.evaluate("JSON.stringify(localStorage)");
    const before = [await stored(), await page.context().cookies()];

    // As from a mail program: the browser names no other page as the origin.
    await page.goto(await linkOf(server, ben));
    await page.getByRole("heading", { name: "Sign in as ben?" }).waitFor();
    expect([await stored(), await page.context().cookies()]).toEqual(before);
    await page.getByRole("link", { name: "Don't sign in" }).click();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    expect(await userIn(page)).toBe("Signed in as ann");

    await page.goto(await linkOf(server, ben));
    await page.getByRole("button", { name: "Sign in as ben" }).click();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    expect(await userIn(page)).toBe("Signed in as ben");
    // The other tab has the same cookie, so it does not go on as ann.
    await expect.poll(() => userIn(other)).toBe("Signed in as ben");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Token").waitFor();
    await other.getByLabel("Token").waitFor();
    await signIn(page, server.token);
    expect(await page.locator("header .user").count()).toBe(0);
    expect(pageErrors).toEqual([]);
  });

  test("shows nobody's unsent question to the next user: not after a sign-out, nor after the end of a session (T14)", async (context) => {
    const { ann, ben, page } = await twoUsers(context);
    const question = page.getByLabel("What do you want to know?");
    await page.goto("/");
    await signIn(page, ann);
    await question.fill("What is wrong with me?");
    // The session ends by itself: the draft stays, for ann.
    await endSession(page);
    await signIn(page, ben);
    expect(await question.inputValue()).toBe("");
    await endSession(page);
    await signIn(page, ann);
    expect(await question.inputValue()).toBe("What is wrong with me?");
    const other = await page.context().newPage();
    await other.goto("/");
    await other.getByLabel("What do you want to know?").fill("And with my brother?");
    await page.getByRole("button", { name: "Sign out" }).click();
    for (const tab of [page, other]) {
      await tab.getByLabel("Token").waitFor();
      expect(await tab.evaluate("[localStorage.length, sessionStorage.length]")).toEqual([0, 0]);
    }
    await signIn(page, ann);
    await page.goto("/");
    await question.waitFor();
    expect(await question.inputValue()).toBe("");
  });
});
