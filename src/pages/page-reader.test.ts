/** Every way in which a cited page is read or not, on sites of loopback. */

import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { openReader } from "../../test/kit/sites/reader.ts";
import { type Handler, html, redirect, SECURE_HOST } from "../../test/kit/sites/sites.ts";
import { systemClock } from "../platform/clock.ts";
import { createPageReader } from "./page-reader.ts";

const ARTICLE = `<title>Otters return</title><article><h1>Otters return</h1>${"<p>Otters were seen at 97 places in the Tarn valley, more than in any year since counting began.</p>".repeat(12)}</article>`;
const A = "www.site-a.org";

const bytes =
  (body: Buffer, headers: Record<string, string>): Handler =>
  (_request, response) =>
    void response.writeHead(200, { "content-type": "text/html", ...headers }).end(body);

test("a page is read through redirects, with its status, final address and a hash of its text (W8)", async () => {
  const { read, requests, lookups } = await openReader({
    [`${A}/1`]: redirect("/2", 301),
    [`${A}/2`]: redirect(`https://${SECURE_HOST}/otters?id=1#top`, 308),
    [`${SECURE_HOST}/otters`]: html(ARTICLE),
  });
  const reading = await read(`http://${A}/1`);
  expect(reading).toMatchObject({
    url: `http://${A}/1`,
    finalUrl: `https://${SECURE_HOST}/otters?id=1`,
    httpStatus: 200,
    hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    outcome: "text",
    page: { title: "Otters return" },
  });
  expect(requests.map(({ target }) => target)).toEqual([
    `${A}/robots.txt`,
    `${A}/1`,
    `${A}/2`,
    `${SECURE_HOST}/robots.txt`,
    `${SECURE_HOST}/otters?id=1`,
  ]);
  expect(requests[0]?.userAgent).toMatch(/^gemini-search-mcp\//);
  // One lookup per request: nothing is looked up between the check and the connection.
  expect(lookups).toHaveLength(5);
});

test("status codes, damaged connections and missing hosts have outcomes of their own (W8)", async () => {
  const { outcomeOf, point } = await openReader({
    [`${A}/403`]: html("<p>Forbidden", {}, 403),
    [`${A}/401`]: html("<p>Unauthorized", {}, 401),
    [`${A}/410`]: html("<p>Gone", {}, 410),
    [`${A}/429`]: html("<p>Slow down", {}, 429),
    [`${A}/500`]: html("<p>Error", {}, 500),
    [`${A}/captcha`]: html("<title>Just a moment...</title><p>Checking your browser", {}, 403),
    [`${A}/loop`]: redirect("/loop"),
    ...Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`${A}/chain${n}`, redirect(`/chain${n + 1}`)])),
    [`${A}/reset`]: (request) => void request.socket.resetAndDestroy(),
    [`${A}/cut`]: (_request, response) => {
      response.writeHead(200, { "content-length": "1000" }).write("<p>half");
      setTimeout(() => response.destroy(), 20);
    },
    [`${A}/to-nowhere`]: redirect("https://"),
  });
  const missing = (): string[] => {
    throw Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" });
  };
  point("missing.site-a.org", missing);
  const expected = {
    "404": "gone: The site answers with status 404.",
    "410": "gone: The site answers with status 410.",
    "401": "unreadable: login",
    "403": "unreachable: The site answers with status 403.",
    "429": "unreachable: The site limits the rate of requests (status 429).",
    "500": "unreachable: The site answers with status 500.",
    captcha: "unreadable: captcha",
    loop: "unreachable: The address redirects in a circle or too often.",
    chain0: "unreachable: The address redirects in a circle or too often.",
    reset: "unreachable: The host closed the connection.",
    cut: "unreachable: The host closed the connection.",
    "to-nowhere": "not_checked: The address is not a valid web address.",
  };
  const found = Object.fromEntries(
    await Promise.all(Object.keys(expected).map(async (path) => [path, await outcomeOf(`http://${A}/${path}`)])),
  );
  expect(found).toEqual(expected);
  expect(await outcomeOf("http://missing.site-a.org/")).toBe("gone: The host name does not exist.");
  expect(await outcomeOf(`https://${A}/`)).toBe("unreachable: The certificate of the host is not valid.");
});

test("the time for a page is bounded, also while bytes arrive (W8)", async () => {
  const { outcomeOf } = await openReader(
    {
      [`${A}/silent`]: () => undefined,
      [`${A}/drip`]: (_request, response) => {
        response.writeHead(200, { "content-type": "text/html" });
        const timer = setInterval(() => response.write("x"), 50);
        response.on("close", () => clearInterval(timer));
      },
    },
    { fetchMs: 800 },
  );
  const late = "unreachable: The host did not answer in time.";
  expect(await Promise.all(["silent", "drip"].map((path) => outcomeOf(`http://${A}/${path}`)))).toEqual([late, late]);
});

test("size, headers and codings are bounded, and no decompression bomb is unpacked (W8)", async () => {
  const bomb = Buffer.alloc(64 * 1_048_576, " ");
  const gzipped = gzipSync(bomb);
  const { outcomeOf } = await openReader(
    {
      [`${A}/gzip`]: bytes(gzipped, { "content-encoding": "gzip" }),
      [`${A}/br`]: bytes(brotliCompressSync(bomb, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }), {
        "content-encoding": "br",
      }),
      [`${A}/zstd`]: bytes(zstdCompressSync(bomb), { "content-encoding": "zstd" }),
      [`${A}/twice`]: bytes(gzipSync(gzipped), { "content-encoding": "gzip, gzip" }),
      [`${A}/coded`]: bytes(gzipSync(ARTICLE), { "content-encoding": "gzip" }),
      [`${A}/damaged`]: bytes(Buffer.from("not gzip"), { "content-encoding": "gzip" }),
      [`${A}/unknown`]: bytes(Buffer.from("x"), { "content-encoding": "compress" }),
      [`${A}/headers`]: html(ARTICLE, { "x-long": "x".repeat(32_768) }),
      [`${A}/endless`]: (_request, response) => {
        response.writeHead(200, { "content-type": "text/html" });
        const more = (): void => {
          while (!response.destroyed && response.write("x".repeat(65_536)));
          if (!response.destroyed) response.once("drain", more);
        };
        more();
      },
    },
    // A busy machine takes seconds to send and unpack these.
    { fetchMs: 60_000 },
  );
  const before = process.memoryUsage.rss();
  const expected = {
    gzip: "unreadable: too_large",
    br: "unreadable: too_large",
    zstd: "unreadable: too_large",
    twice: "unreachable: The host sent the page in a coding that is not supported.",
    coded: "text",
    damaged: "unreachable: The host sent a damaged response.",
    unknown: "unreachable: The host sent the page in a coding that is not supported.",
    headers: "unreachable: The host sent too many response headers.",
    endless: "unreadable: too_large",
  };
  const found: Record<string, string> = {};
  for (const path of Object.keys(expected)) found[path] = await outcomeOf(`http://${A}/${path}`);
  expect(found).toEqual(expected);
  expect(process.memoryUsage.rss() - before).toBeLessThan(160 * 1_048_576);
});

test("a host receives one request at a time with a pause between, and at most a few hosts are asked at once (W8)", async () => {
  const hosts = Array.from({ length: 6 }, (_, n) => `host${n}.site-a.org`);
  const slow: Handler = (_request, response) => void setTimeout(() => response.writeHead(200).end(ARTICLE), 60);
  const { read, requests } = await openReader(
    Object.fromEntries(hosts.flatMap((host) => [1, 2].map((n) => [`${host}/${n}`, slow]))),
    { hostIntervalMs: 100, concurrentHosts: 4 },
  );
  await Promise.all(hosts.flatMap((host) => [1, 2].map((n) => read(`http://${host}/${n}`))));
  expect(requests).toHaveLength(18);
  for (const host of hosts) {
    const own = requests.filter(({ target }) => target.startsWith(host));
    const pauses = own.slice(1).map(({ at }, n) => at - (own[n]?.endedAt ?? Infinity));
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(90);
  }
  const widest = requests.map(({ at }) => requests.filter((one) => one.at <= at && (one.endedAt ?? 0) > at).length);
  expect(Math.max(...widest)).toBe(4);
});

test("robots.txt is obeyed: its absence allows, an error of it leaves the page unchecked (W8)", async () => {
  const { outcomeOf, requests } = await openReader(
    {
      "closed.site-a.org/robots.txt": html("User-agent: *\nDisallow: /private\n"),
      "closed.site-a.org/private/1": html(ARTICLE),
      "closed.site-a.org/open": html(ARTICLE),
      "named.site-a.org/robots.txt": html("User-agent: *\nDisallow: /\n\nUser-agent: gemini-search-mcp\nAllow: /\n"),
      "named.site-a.org/1": html(ARTICLE),
      "broken.site-a.org/robots.txt": html("", {}, 503),
      "broken.site-a.org/1": html(ARTICLE),
      "silent.site-a.org/robots.txt": () => undefined,
      "forbidden.site-a.org/robots.txt": html("", {}, 403),
      "forbidden.site-a.org/1": html(ARTICLE),
      "open.site-a.org/away": redirect("http://closed.site-a.org/private/1"),
    },
    { fetchMs: 1_500 },
  );
  expect(await outcomeOf("http://closed.site-a.org/private/1")).toBe("unreadable: robots");
  expect(await outcomeOf("http://closed.site-a.org/open")).toBe("text");
  expect(await outcomeOf("http://open.site-a.org/away")).toBe("unreadable: robots");
  expect(await outcomeOf("http://named.site-a.org/1")).toBe("text");
  expect(await outcomeOf("http://forbidden.site-a.org/1")).toBe("text");
  const unknown = "not_checked: The site's robots.txt could not be read.";
  expect(await outcomeOf("http://broken.site-a.org/1")).toBe(unknown);
  expect(await outcomeOf("http://silent.site-a.org/1")).toBe(unknown);
  const targets = requests.map(({ target }) => target);
  expect(targets.filter((target) => target === "closed.site-a.org/robots.txt")).toHaveLength(1);
  expect(targets).not.toContain("closed.site-a.org/private/1");
  expect(targets).not.toContain("broken.site-a.org/1");
});

test("an aborted reading ends at once, and nothing is read after the end (W8)", async () => {
  const { network } = await openReader({ [`${A}/hangs`]: () => undefined });
  const reader = createPageReader({ clock: systemClock, network, limits: { hostIntervalMs: 0, fetchMs: 1_000 } });
  const stopped = new AbortController();
  const reading = reader.read(`http://${A}/hangs`, stopped.signal);
  stopped.abort(new Error("stopped"));
  await expect(reading).rejects.toThrow("stopped");
  await reader.close();
  await expect(reader.read(`http://${A}/hangs`, new AbortController().signal)).rejects.toThrow();
});
