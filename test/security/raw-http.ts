/** Malformed and ambiguous HTTP requests: hosts, lengths, encodings and smuggled requests (T13, T16). */

import { connect, type Socket } from "node:net";
import type { RunningHttpServer } from "../kit/server/http-server.ts";
import type { Verdict } from "./trial.ts";

interface RawCase {
  what: string;
  bytes: string;
  /** The allowed beginning of each response; a closed connection without a response is always allowed. */
  allowed: RegExp;
}

const REFUSED = /^HTTP\/1\.1 (?:400|401|403|404|405|408|413|414|417|431|501|505) /;
const CRLF = "\r\n";
const MAX_WAIT_MS = 30_000;

const lines = (...all: string[]): string => all.join(CRLF) + CRLF + CRLF;
/** A smuggled request that must never be answered. */
const HIDDEN = lines("GET /health HTTP/1.1", "Host: localhost", "Connection: close");

/** Unusual request targets and hosts. */
function addressCases(host: string): RawCase[] {
  const get = (target: string, ...headers: string[]): string =>
    lines(`GET ${target} HTTP/1.1`, ...headers, "Connection: close");
  const ours = `Host: ${host}`;
  const cases: [string, string][] = [
    ["absolute form of a other host", get("http://evil.example/health", "Host: evil.example")],
    ["absolute form of ours, other Host", get(`http://${host}/health`, "Host: evil.example")],
    ["absolute form of a other host, our Host", get("http://evil.example/health", ours)],
    ["absolute form with a user", get(`http://localhost@evil.example/health`, ours)],
    ["two Hosts, ours first", get("/health", ours, "Host: evil.example")],
    ["two Hosts, ours last", get("/health", "Host: evil.example", ours)],
    ["two Hosts, both ours", get("/health", ours, ours)],
    ["two Hosts in one", get("/health", `Host: ${host}, evil.example`)],
    ["a continued Host header", get("/health", `Host: ${host}`, " evil.example")],
    ["no Host", get("/health")],
    ["an empty Host", get("/health", "Host:")],
    ["a Host with a tab", get("/health", "Host: local\thost")],
    ["a Host with a path", get("/health", `Host: ${host}/x`)],
    ["a Host with a space before the colon", get("/health", `Host : ${host}`)],
    ["a Host of NUL", get("/health", "Host: local\0host")],
    ["a forwarded Host", get("/health", "Host: evil.example", `X-Forwarded-Host: ${host}`, `Forwarded: host=${host}`)],
    ["HTTP/1.0 without a Host", lines("GET /health HTTP/1.0")],
    ["HTTP/0.9", `GET /health${CRLF}`],
    ["HTTP/2", `PRI * HTTP/2.0${CRLF}${CRLF}SM${CRLF}${CRLF}`],
    ["an unknown method", lines("SPEND /mcp HTTP/1.1", ours)],
    ["CONNECT", lines("CONNECT evil.example:443 HTTP/1.1", ours)],
    ["TRACE", lines("TRACE /mcp HTTP/1.1", ours, "Connection: close")],
    ["OPTIONS *", lines("OPTIONS * HTTP/1.1", ours, "Connection: close")],
    ["a WebSocket", lines("GET /mcp HTTP/1.1", ours, "Connection: Upgrade", "Upgrade: websocket")],
    ["a path with another server", get("//evil.example/mcp", ours)],
    ["a parent directory", get("/health/../mcp", ours)],
    ["an encoded parent directory", get("/health/%2e%2e/mcp", ours)],
    ["a packed slash", get("/health%2f..%2fmcp", ours)],
    ["capitals", get("/MCP", ours)],
    ["a NUL in the path", get("/health%00/mcp", ours)],
    ["a packed line break in the path", get("/mcp%0d%0aHost:%20localhost", ours)],
    ["a path of 100 KB", get(`/${"a".repeat(100_000)}`, ours)],
    ["a header of 100 KB", get("/health", ours, `X-Long: ${"a".repeat(100_000)}`)],
    ["a token of 15 KB", get("/mcp", ours, `Authorization: Bearer ${"a".repeat(15_000)}`)],
    ["two tokens", get("/mcp", ours, "Authorization: Bearer a", "Authorization: Bearer b")],
  ];
  return cases.map(([what, bytes]) => ({ what, bytes, allowed: REFUSED }));
}

/** Ambiguous ends of a request. */
function lengthCases(host: string): RawCase[] {
  const post = (headers: string[], body: string): string =>
    lines("POST /mcp HTTP/1.1", `Host: ${host}`, "Content-Type: application/json", ...headers) + body;
  const chunks = (size: string): string => `${size}${CRLF}{}${CRLF}0${CRLF}${CRLF}`;
  const cases: [string, string][] = [
    ["a length and chunks", post(["Content-Length: 4", "Transfer-Encoding: chunked"], chunks("2") + HIDDEN)],
    ["chunks and a length", post(["Transfer-Encoding: chunked", "Content-Length: 4"], chunks("2") + HIDDEN)],
    ["two lengths", post(["Content-Length: 2", `Content-Length: ${HIDDEN.length + 2}`], `{}${HIDDEN}`)],
    ["two lengths in one", post([`Content-Length: 2, ${HIDDEN.length}`], `{}${HIDDEN}`)],
    ["a negative length", post(["Content-Length: -1"], HIDDEN)],
    ["a length with a sign", post(["Content-Length: +2"], `{}${HIDDEN}`)],
    ["a hexadecimal length", post(["Content-Length: 0x2"], `{}${HIDDEN}`)],
    ["a length with a fraction", post(["Content-Length: 2.0"], `{}${HIDDEN}`)],
    ["a length beyond numbers", post(["Content-Length: 99999999999999999999"], `{}${HIDDEN}`)],
    ["a length with a space before the colon", post(["Content-Length : 2"], `{}${HIDDEN}`)],
    ["unknown encoding", post(["Transfer-Encoding: xchunked"], chunks("2") + HIDDEN)],
    ["chunked twice", post(["Transfer-Encoding: chunked, chunked"], chunks("2") + HIDDEN)],
    ["chunked before another", post(["Transfer-Encoding: chunked, identity"], chunks("2") + HIDDEN)],
    ["chunked with a vertical tab", post(["Transfer-Encoding:\u000Bchunked"], chunks("2") + HIDDEN)],
    ["a chunk size beyond numbers", post(["Transfer-Encoding: chunked"], chunks("fffffffffffffffff") + HIDDEN)],
    ["a negative chunk size", post(["Transfer-Encoding: chunked"], chunks("-2") + HIDDEN)],
    ["a chunk size with a sign", post(["Transfer-Encoding: chunked"], chunks("+2") + HIDDEN)],
    ["a chunk size with 0x", post(["Transfer-Encoding: chunked"], chunks("0x2") + HIDDEN)],
    ["a chunk that ends early", post(["Transfer-Encoding: chunked"], `5${CRLF}{}${CRLF}0${CRLF}${CRLF}${HIDDEN}`)],
    ["a chunk extension with a line feed", post(["Transfer-Encoding: chunked"], `2;a\n{}${CRLF}0${CRLF}${CRLF}`)],
    ["a header with a lone return", post(["X: a\rTransfer-Encoding: chunked", "Content-Length: 2"], "{}")],
    ["a header without a name", post([": x", "Content-Length: 2"], `{}`)],
    ["a header with NUL", post(["X: a\0b", "Content-Length: 2"], `{}`)],
  ];
  return cases.map(([what, bytes]) => ({ what, bytes, allowed: REFUSED }));
}

export async function tryRawRequests(server: RunningHttpServer): Promise<Verdict> {
  const broken: string[] = [];
  const host = `127.0.0.1:${server.port}`;
  const cases = [...addressCases(host), ...lengthCases(host)];
  for (const { what, bytes, allowed } of cases) {
    const answers = splitAnswers(await exchange(server.port, bytes));
    // The connection may be rejected after the request, but the smuggled request must never be answered.
    const wrong = answers.filter((answer) => !allowed.test(answer));
    if (wrong.length > 0) broken.push(`${what}: ${wrong[0]?.slice(0, 200)}`);
    if (answers.some((answer) => /\bat .*\.[jt]s:\d/.test(answer))) broken.push(`${what}: a stack`);
  }
  const after = await server.request("/health");
  if (after.status !== 200) broken.push(`/health afterwards: ${after.status}`);
  return { tried: cases.length, broken };
}

const splitAnswers = (text: string): string[] => text.split(/(?=HTTP\/1\.1 \d{3} )/).filter((part) => part !== "");

/** Returns everything that the server sends until it closes the connection or stops responding. */
function exchange(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    let text = "";
    const end = (): void => {
      socket.destroy();
      resolve(text);
    };
    socket.setEncoding("latin1").on("data", (chunk: string) => (text += chunk));
    // Closing our side ends a request that waits for more.
    socket.once("connect", () => socket.end(bytes, "latin1"));
    socket.once("close", end).on("error", () => undefined);
    setTimeout(end, MAX_WAIT_MS).unref();
  });
}

/** Announces a body of ten gigabytes; returns true if it is rejected before any byte is sent. */
export async function isRefusedUnread(server: RunningHttpServer, token: string | undefined): Promise<string> {
  const head = lines(
    "POST /mcp HTTP/1.1",
    `Host: 127.0.0.1:${server.port}`,
    "Content-Type: application/json",
    "Accept: application/json, text/event-stream",
    ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
    "Content-Length: 10737418240",
  );
  const socket = connect(server.port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.write(head);
  const answer = await new Promise<string>((resolve) => socket.once("data", (chunk) => resolve(chunk.toString())));
  socket.destroy();
  return answer.split(CRLF)[0] ?? "";
}

/** Opens connections that send an endless header one byte at a time; each resolves with the server's response. */
export function dribble(port: number, count: number): { sockets: Socket[]; ended: Promise<string[]> } {
  const sockets = Array.from({ length: count }, () => connect(port, "127.0.0.1"));
  const ended = sockets.map(
    (socket) =>
      new Promise<string>((resolve) => {
        let text = "";
        socket.write(`GET /health HTTP/1.1${CRLF}Host: localhost${CRLF}`);
        const timer = setInterval(() => socket.write("X"), 500);
        socket.on("data", (chunk) => (text += chunk.toString())).on("error", () => undefined);
        socket.once("close", () => {
          clearInterval(timer);
          resolve(text.split(CRLF)[0] ?? "");
        });
      }),
  );
  return { sockets, ended: Promise.all(ended) };
}
