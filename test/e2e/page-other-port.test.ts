/** A program on another port receives the dashboard's cookie from the browser, but cannot use it. */

import { createServer } from "node:http";
import { expect, test, type TestContext } from "vitest";
import { enterPage, openBrowser } from "../kit/browser/browser.ts";
import { openHttpScene } from "../kit/server/http-server.ts";

interface OtherProgram {
  url: string;
  /** The cookies that a browser sent last. */
  cookies: () => string;
}

/** Shows an empty page and keeps the cookies it gets. */
async function startOtherProgram(context: Pick<TestContext, "onTestFinished">): Promise<OtherProgram> {
  let cookies = "";
  const server = createServer((request, response) => {
    if (request.url === "/") cookies = request.headers.cookie ?? "";
    response.setHeader("content-type", "text/html").end("<title>Another program</title>");
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  context.onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, cookies: () => cookies };
}

/** Percent-encoded at the start and at the end, encoded twice, in capitals, and with a slash too many. */
function spellingsOf(path: string): string[] {
  const encode = (character: string): string => `%${character.codePointAt(0)?.toString(16)}`;
  const first = `/${encode(path[1] ?? "")}${path.slice(2)}`;
  const last = `${path.slice(0, -1)}${encode(path.at(-1) ?? "")}`;
  const every = `/${Array.from(path.slice(1), (character) => (character === "/" ? "/" : encode(character))).join("")}`;
  const encodedSlash = `/${path.slice(1).replaceAll("/", "%2F")}%2f`;
  const twice = [first, every].map((spelling) => spelling.replaceAll("%", "%25"));
  const slashes = [`/${path}`, `/${first}`, `${path}/`, `/.${first}`, `/assets/..${first}`, `/assets/%2e%2e${path}`];
  return [first, last, every, encodedSlash, ...twice, path.toUpperCase(), ...slashes];
}

test("a program on another port that gets the page's cookie can neither read nor act with it (A9)", async (context) => {
  const browser = await openBrowser(context);
  if (browser === undefined) return context.skip("there is no chromium");
  const scene = await openHttpScene(context, { name: "other-port", interactions: {} });
  const server = await scene.http();
  const other = await startOtherProgram(context);
  const { page } = await enterPage(browser, server);
  await page.goto(`${other.url}/`);
  const cookie = other.cookies();
  // Otherwise the attack did not take place.
  expect(cookie).toContain(`gemini_search_page_${server.port}=`);

  // A request from its own process does not reveal its origin.
  const replay = async (path: string, init: RequestInit = {}): Promise<number> =>
    (await fetch(`${server.url}${path}`, { ...init, headers: { cookie, ...init.headers } })).status;
  const json = { "content-type": "application/json" };
  const start = { method: "POST", headers: json, body: JSON.stringify({ query: "Who pays for this research?" }) };
  expect(await replay("/api/runs")).toBe(401);
  expect(await replay("/api/figures")).toBe(401);
  expect(await replay("/api/live")).toBe(401);
  expect(await replay("/api/research", start)).toBe(401);
  expect(await replay("/sign-out", { method: "POST" })).toBe(401);
  // Nor under another spelling of a path, some of which are equal for the router.
  for (const path of spellingsOf("/api/runs")) expect([path, await replay(path)]).toEqual([path, 401]);
  for (const path of spellingsOf("/api/figures")) expect([path, await replay(path)]).toEqual([path, 401]);
  for (const path of spellingsOf("/api/research")) expect([path, await replay(path, start)]).toEqual([path, 401]);
  for (const path of spellingsOf("/sign-out")) {
    expect([path, await replay(path, { method: "POST" })]).toEqual([path, 401]);
  }
  expect(scene.gemini.ledger.acceptedStarts()).toEqual([]);
  // With the cookie it can read only the files of the page, which contain no user data.
  const shell = await fetch(`${server.url}/`, { headers: { cookie } });
  expect(shell.headers.getSetCookie()).toEqual([]);

  // Its page is another origin: it reads no storage of ours and sends no header of ours.
  expect(await page.evaluate("localStorage.length")).toBe(0);
  const asked = await page.evaluate(
    `fetch(${JSON.stringify(`${server.url}/api/runs`)}, { credentials: "include", headers: { "x-page-secret": "x" } })
      .then((response) => response.status, () => "refused")`,
  );
  expect(asked).toBe("refused");

  // The user is still signed in, in this tab and in a new one.
  await page.goto(`${server.url}/`);
  await page.getByRole("heading", { name: "Nothing asked yet" }).waitFor();
  const tab = await page.context().newPage();
  await tab.goto(`${server.url}/costs`);
  await tab.getByText("Nothing was charged in this period.").waitFor();
  await tab.reload();
  await tab.getByText("Nothing was charged in this period.").waitFor();
  return undefined;
});

test("a browser that has lost the page's secret signs in again and returns to the same view (A9)", async (context) => {
  const browser = await openBrowser(context);
  if (browser === undefined) return context.skip("there is no chromium");
  const server = await (await openHttpScene(context)).http();
  const { page, pageErrors } = await enterPage(browser, server);
  // Before the first script of the next page: an open page would notice the loss and navigate.
  await page.addInitScript("if (sessionStorage.lost === undefined) localStorage.clear(); sessionStorage.lost = '1';");
  await page.goto("/costs");
  await page.getByLabel("Token").fill(server.token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("Nothing was charged in this period.").waitFor();
  expect(new URL(page.url()).pathname).toBe("/costs");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Token").waitFor();
  expect(await page.evaluate("localStorage.length")).toBe(0);
  expect(pageErrors).toEqual([]);
  return undefined;
});
