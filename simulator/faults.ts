/** Sends a reply, complete or with the fault that a scenario requests. */

import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { Fault } from "./fault-names.ts";
import { errorReply, isErrorName } from "./google-errors.ts";
import type { Reply } from "./models/wire.ts";

export interface Delivery {
  reply: Reply;
  fault: Fault | undefined;
  latencyMs: number;
  /** The Retry-After header of a 429, sent as it is: seconds, a date, or an invalid value. */
  retryAfter?: string | undefined;
  /** Aborted when the client disconnects or the simulator closes. */
  signal: AbortSignal;
  /** Called just before a fault resets the connection, which otherwise looks like a disconnected client. */
  onCut: () => void;
}

const DRIP_PIECES = 20;
const DRIP_GAP_MS = 100;
const SLOWLORIS_GAP_MS = 20;
const RESET_DELAY_MS = 20;
/** A gigabyte of spaces, which JSON allows before a value, compressed to a megabyte of concatenated gzip members. */
const BOMB_MEMBERS = 1_024;
const BOMB_MEMBER_BYTES = 1024 * 1024;

const HTML: Reply = {
  status: 200,
  headers: { "content-type": "text/html; charset=UTF-8" },
  frames: ["<!DOCTYPE html><html><title>Sign in</title><body>Sign in to this network.</body></html>"],
};

const errorPage = (status: number): Reply => ({
  status,
  headers: { "content-type": "text/html; charset=UTF-8" },
  frames: [`<!DOCTYPE html><html><title>Error ${status}!!1</title><body>That’s an error.</body></html>`],
});

/** Redirects to the same URL, so that a client that follows it is counted again. */
const REDIRECT: Reply = { status: 307, headers: { location: "?redirected=true" }, frames: [""] };

const json = (body: string): Reply => ({
  status: 200,
  headers: { "content-type": "application/json; charset=UTF-8" },
  frames: [body],
});

function half(text: string): string {
  return text.slice(0, Math.ceil(text.length / 2));
}

function sendReply(response: ServerResponse, reply: Reply): void {
  const [first = "", ...others] = reply.frames;
  if (others.length === 0) {
    response.writeHead(reply.status, { ...reply.headers, "content-length": Buffer.byteLength(first) }).end(first);
    return;
  }
  response.writeHead(reply.status, reply.headers);
  for (const frame of reply.frames) response.write(frame);
  response.end();
}

function resetConnection(response: ServerResponse, { onCut }: Delivery): void {
  onCut();
  response.socket?.resetAndDestroy();
}

/** Resets only after the first half was written; otherwise the client would see a reset without a body. */
function resetMidBody(response: ServerResponse, delivery: Delivery): Promise<void> {
  const { reply, signal } = delivery;
  response.writeHead(reply.status, reply.headers);
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
    response.write(half(reply.frames.join("")), () =>
      setTimeout(() => resetConnection(response, delivery), RESET_DELAY_MS),
    );
  });
}

/** Announces the whole body, and ends the connection three quarters into it. */
function sendShort(response: ServerResponse, { reply, fault, onCut }: Delivery): void {
  const isGzip = fault === "short-gzip";
  const body = reply.frames.join("");
  const whole = isGzip ? gzipSync(body) : Buffer.from(body);
  const encoding = isGzip ? { "content-encoding": "gzip" } : {};
  onCut();
  response.writeHead(reply.status, { ...reply.headers, ...encoding, "content-length": whole.length });
  response.write(whole.subarray(0, Math.ceil(whole.length * 0.75)), () => response.socket?.end());
}

async function drip(response: ServerResponse, reply: Reply, signal: AbortSignal): Promise<void> {
  const body = Buffer.from(reply.frames.join(""));
  const size = Math.ceil(body.length / DRIP_PIECES);
  response.writeHead(reply.status, reply.headers);
  for (let start = 0; start < body.length; start += size) {
    response.write(body.subarray(start, start + size));
    await sleep(DRIP_GAP_MS, undefined, { signal });
  }
  response.end();
}

/** Sends the body byte by byte and then spaces forever, which are still valid JSON. */
async function slowloris(response: ServerResponse, reply: Reply, signal: AbortSignal): Promise<void> {
  response.writeHead(reply.status, reply.headers);
  const body = Buffer.from(reply.frames.join(""));
  for (let index = 0; ; index += 1) {
    response.write(index < body.length ? body.subarray(index, index + 1) : " ");
    await sleep(SLOWLORIS_GAP_MS, undefined, { signal });
  }
}

async function gzipBomb(response: ServerResponse, reply: Reply, signal: AbortSignal): Promise<void> {
  response.writeHead(200, { ...reply.headers, "content-encoding": "gzip" });
  const member = gzipSync(Buffer.alloc(BOMB_MEMBER_BYTES, " "));
  for (let sent = 0; sent < BOMB_MEMBERS && !signal.aborted; sent += 1) {
    if (!response.write(member)) await once(response, "drain", { signal });
  }
  response.end(gzipSync(reply.frames.join("")));
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** A complete HTTP body with truncated JSON. */
function truncatedJson(reply: Reply): Reply {
  const body = reply.frames.join("");
  return { ...reply, frames: [reply.frames.length > 1 ? `${half(body)}\r\n\r\n` : half(body)] };
}

/** A complete body that is not valid JSON. */
const singleQuoted = (reply: Reply): Reply => ({ ...reply, frames: [reply.frames.join("").replaceAll('"', "'")] });

/** Faults whose reply is sent whole. */
const REPLIES = {
  redirect: () => REDIRECT,
  "html-200": () => HTML,
  "malformed-json": truncatedJson,
  "invalid-json": singleQuoted,
  "wrong-json": () => json('{"greeting":"hello"}'),
  "empty-200": () => json(""),
  "http-421": () => errorPage(421),
  "http-502": () => errorPage(502),
  "http-503-gateway": () => errorPage(503),
  "http-201": (reply: Reply) => ({ ...reply, status: 201 }),
  "http-202": (reply: Reply) => ({ ...reply, status: 202 }),
};

export async function deliver(response: ServerResponse, delivery: Delivery): Promise<void> {
  const { reply, fault, latencyMs, signal, retryAfter } = delivery;
  if (latencyMs > 0) await sleep(latencyMs, undefined, { signal });
  switch (fault) {
    case undefined:
      return sendReply(response, reply);
    case "reset-before":
      return resetConnection(response, delivery);
    case "reset-mid-body":
      return resetMidBody(response, delivery);
    case "short-body":
    case "short-gzip":
      return sendShort(response, delivery);
    case "hang":
      return untilAborted(signal);
    case "slow-drip":
      return drip(response, reply, signal);
    case "slowloris":
      return slowloris(response, reply, signal);
    case "gzip-bomb":
      return gzipBomb(response, reply, signal);
    default:
      return sendReply(response, isErrorName(fault) ? errorReply(fault, retryAfter) : REPLIES[fault](reply));
  }
}
