/** Only public addresses are requested, however an address is written and wherever a name or a redirect leads. */

import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { readGuardCases, runGuardCase } from "../../../test/kit/sites/guard-cases.ts";
import { listen } from "../../../test/kit/sites/listen.ts";
import { openReader } from "../../../test/kit/sites/reader.ts";
import { html, redirect } from "../../../test/kit/sites/sites.ts";

const CASES = readGuardCases(join(import.meta.dirname, "../../../test/corpus/guard-urls.json"));
const PAGE = html(`<title>Page</title>${"<p>A page that anyone may read, with enough text to be one.</p>".repeat(20)}`);
const PRIVATE = "not_checked: The address leads to a private or reserved network.";

test("of a corpus of addresses, none is let through and none is refused wrongly (W7)", async () => {
  const wrong: string[] = [];
  for (const one of CASES) {
    const { found, isRebound } = await runGuardCase(one);
    if (found !== one.expected || isRebound) wrong.push(`${one.id} ${one.url}: ${found}`);
  }
  expect(CASES.length).toBeGreaterThan(60);
  expect(wrong).toEqual([]);
});

test("a name that changes its address between check and connection, or has one private address, is not followed (W7)", async () => {
  const { outcomeOf, point, lookups, requests } = await openReader({ "rebinding.site-a.org/": PAGE });
  let count = 0;
  // Public for the first lookup only, which is that of robots.txt.
  point("rebinding.site-a.org", () => ((count += 1) === 1 ? ["127.0.0.1"] : ["127.0.0.2"]));
  expect(await outcomeOf("http://rebinding.site-a.org/")).toBe(PRIVATE);
  expect(requests.map(({ target }) => target)).toEqual(["rebinding.site-a.org/robots.txt"]);
  expect(lookups).toHaveLength(2);
  point("mixed.site-a.org", ["127.0.0.1", "10.0.0.5"]);
  expect(await outcomeOf("http://mixed.site-a.org/")).toBe(PRIVATE);
  point("odd.site-a.org", ["127.0.0.1", "not an address"]);
  expect(await outcomeOf("http://odd.site-a.org/")).toBe(PRIVATE);
});

test("each redirect is checked anew, and so is the peer of a connection (W7)", async () => {
  const to = (location: string) => redirect(location);
  const { outcomeOf, network, requests } = await openReader({
    "www.site-a.org/private": to("http://192.168.1.1/admin"),
    "www.site-a.org/metadata": to("http://169.254.169.254/latest/meta-data/"),
    "www.site-a.org/file": to("file:///etc/passwd"),
    "www.site-a.org/port": to("http://www.site-a.org:6379/"),
    "www.site-a.org/user": to("http://user:secret@www.site-a.org/"),
    "www.site-a.org/name": to("http://router.lan/"),
    "www.site-a.org/page": PAGE,
  });
  const found = ["private", "metadata", "file", "port", "user", "name", "page"].map(
    async (path) => [path, await outcomeOf(`http://www.site-a.org/${path}`)] as const,
  );
  expect(Object.fromEntries(await Promise.all(found))).toEqual({
    private: PRIVATE,
    metadata: PRIVATE,
    file: "not_checked: Only http and https addresses are fetched.",
    port: "not_checked: The address names a port that is not used for web pages.",
    user: "not_checked: The address contains a user name or password.",
    name: "not_checked: The host name does not belong to the public Internet.",
    page: "text",
  });
  const dial = network.connect;
  network.connect = (address, port) =>
    Object.defineProperty(dial(address, port), "remoteAddress", { value: "10.0.0.1" });
  const before = requests.length;
  expect(await outcomeOf("http://www.site-a.org/page")).toBe(
    "not_checked: The connection did not reach the address that was checked.",
  );
  expect(requests).toHaveLength(before);
});

const READ_ONE = join(import.meta.dirname, "../../../test/kit/sites/read-one.ts");

test("variables for proxies do not divert a request (W7)", async () => {
  const seen: string[] = [];
  const counting = (name: string) =>
    createServer((request, response) => {
      seen.push(`${name} ${request.url}`);
      PAGE(request, response);
    });
  const [site, proxy] = [await listen(counting("site")), await listen(counting("proxy"))];
  const variables = ["HTTP_PROXY", "http_proxy", "ALL_PROXY"].map((name) => [name, `http://127.0.0.1:${proxy}`]);
  const { stdout } = await promisify(execFile)(process.execPath, [READ_ONE], {
    env: { ...Object.fromEntries(variables), NODE_USE_ENV_PROXY: "1", SITE_PORT: String(site) },
  });
  expect(stdout.trim()).toBe("text");
  expect(seen).toEqual(["site /robots.txt", "site /page"]);
});
