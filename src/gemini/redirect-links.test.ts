/** Redirect links: only Google's host is contacted, only `Location` is read, and no local URL is stored. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createRedirectResolver, isGoogleRedirect, publicUrl, RedirectUnreachable } from "./redirect-links.ts";

const LINK = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/AUZIYQ";
const NEVER = new AbortController().signal;

async function redirectHost(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a listening TCP server has no other kind of address
  const { port } = server.address() as AddressInfo;
  return { asked, ...createRedirectResolver(`http://127.0.0.1:${port}`) };
}

const leadingTo = (location: string) =>
  redirectHost((_request, response) => response.writeHead(302, { location }).end());

test("a redirect is requested once, by HEAD, and is not followed (T-3, T23)", async () => {
  const { resolve, asked } = await leadingTo("https://example.com/page?a=1#b");
  expect(await resolve(LINK, NEVER)).toBe("https://example.com/page?a=1#b");
  expect(asked).toEqual(["HEAD /grounding-api-redirect/AUZIYQ"]);
});

test.each([
  "https://example.com/grounding-api-redirect/x",
  "http://vertexaisearch.cloud.google.com/grounding-api-redirect/x",
  "https://vertexaisearch.cloud.google.com/other",
  "https://vertexaisearch.cloud.google.com:444/grounding-api-redirect/x",
  "https://a@vertexaisearch.cloud.google.com/grounding-api-redirect/x",
  "https://vertexaisearch.cloud.google.com.evil.example/grounding-api-redirect/x",
  "nonsense",
])("%s is never requested (T-3, T23)", async (link) => {
  const { resolve, asked } = await leadingTo("https://example.com/");
  expect(isGoogleRedirect(link)).toBe(false);
  expect(await resolve(link, NEVER)).toBeUndefined();
  expect(asked).toEqual([]);
});

test.each([
  "http://localhost/",
  "http://a.localhost/",
  "http://printer/",
  "http://nas.local/",
  "http://127.0.0.1/",
  "http://2130706433/",
  "http://0x7f.1/",
  "http://10.1.2.3/",
  "http://172.31.0.1/",
  "http://192.168.1.1/",
  "http://169.254.169.254/latest/meta-data",
  "http://100.64.0.1/",
  "http://0.0.0.0/",
  "http://[::1]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[fe80::1]/",
  "http://[fd00::1]/",
  "https://user:pw@example.com/",
  "https://vertexaisearch.cloud.google.com/grounding-api-redirect/y",
  "javascript:alert(1)",
  "file:///etc/passwd",
  "/relative",
  `https://example.com/${"x".repeat(5_000)}`,
])("%s as a target is not kept (T-3, T23)", async (target) => {
  expect(publicUrl(target)).toBeUndefined();
});

test.each(["https://example.com/", "http://8.8.8.8/", "https://[2606:4700::1]/", "https://münchen.site-a.org/"])(
  "the target %s is stored (T-3)",
  (target) => {
    expect(publicUrl(target)).toBe(new URL(target).href);
  },
);

test("an answer that is no redirect resolves to nothing; a failed request is reported as such (T-3)", async () => {
  const page = await redirectHost((_request, response) => response.writeHead(200).end("a page"));
  expect(await page.resolve(LINK, NEVER)).toBeUndefined();
  const broken = await redirectHost((request) => request.socket.destroy());
  await expect(broken.resolve(LINK, NEVER)).rejects.toThrow(RedirectUnreachable);
  const busy = await redirectHost((_request, response) => response.writeHead(503).end());
  await expect(busy.resolve(LINK, NEVER)).rejects.toThrow(RedirectUnreachable);
});
