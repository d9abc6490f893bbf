/** Signing in and out in a real browser: through the private file, and with the button. */

import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test, type TestContext } from "vitest";
import { openBrowser, openPage } from "../kit/browser/browser.ts";
import { openHttpScene } from "../kit/server/http-server.ts";
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
