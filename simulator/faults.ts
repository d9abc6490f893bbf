/** Sends a reply over the wire, whole or with the fault that a scenario asks for. */

import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { Fault } from "./fault-names.ts";
import { errorReply } from "./google-errors.ts";
import type { Reply } from "./models/wire.ts";

export interface Delivery {
  reply: Reply;
  fault: Fault | undefined;
  latencyMs: number;
  /** In the header of a 429, word for word: seconds, a date, or nonsense. */
  retryAfter?: string | undefined;
  /** Aborted when the client is gone or the simulator closes. */
  signal: AbortSignal;
  /** Called just before a fault cuts the connection, which otherwise looks like a client that left. */
  onCut: () => void;
}

const DRIP_PIECES = 20;
const DRIP_GAP_MS = 100;
const LORIS_GAP_MS = 20;
const CUT_DELAY_MS = 20;
/** A gigabyte of spaces, which JSON allows before its first sign, in a megabyte: gzip may be put together of members. */
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

/** To the same place: whoever follows it comes back, and is counted again. */
const DETOUR: Reply = { status: 307, headers: { location: "?redirected=true" }, frames: [""] };

const json = (body: string): Reply => ({
  status: 200,
  headers: { "content-type": "application/json; charset=UTF-8" },
  frames: [body],
});

function half(text: string): string {
  return text.slice(0, Math.ceil(text.length / 2));
}

function sendWhole(response: ServerResponse, reply: Reply): void {
  const [first = "", ...others] = reply.frames;
  if (others.length === 0) {
    response.writeHead(reply.status, { ...reply.headers, "content-length": Buffer.byteLength(first) }).end(first);
    return;
  }
  response.writeHead(reply.status, reply.headers);
  for (const frame of reply.frames) response.write(frame);
  response.end();
}

function cut(response: ServerResponse, { onCut }: Delivery): void {
  onCut();
  response.socket?.resetAndDestroy();
}

/** The cut waits until the first half is on its way, or the client would see a reset without a body. */
function cutMidBody(response: ServerResponse, delivery: Delivery): Promise<void> {
  const { reply, signal } = delivery;
  response.writeHead(reply.status, reply.headers);
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
    response.write(half(reply.frames.join("")), () => setTimeout(() => cut(response, delivery), CUT_DELAY_MS));
  });
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

/** Byte by byte, and never to the end: spaces after it is over would still be JSON. */
async function loris(response: ServerResponse, reply: Reply, signal: AbortSignal): Promise<void> {
  response.writeHead(reply.status, reply.headers);
  const body = Buffer.from(reply.frames.join(""));
  for (let place = 0; ; place += 1) {
    response.write(place < body.length ? body.subarray(place, place + 1) : " ");
    await sleep(LORIS_GAP_MS, undefined, { signal });
  }
}

async function bomb(response: ServerResponse, reply: Reply, signal: AbortSignal): Promise<void> {
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

/** The body ends in the middle of its JSON although HTTP says it is complete. */
function malformed(reply: Reply): Reply {
  const body = reply.frames.join("");
  return { ...reply, frames: [reply.frames.length > 1 ? `${half(body)}\r\n\r\n` : half(body)] };
}

/** All of it came, and none of it can be read. */
const unquoted = (reply: Reply): Reply => ({ ...reply, frames: [reply.frames.join("").replaceAll('"', "'")] });

export async function deliver(response: ServerResponse, delivery: Delivery): Promise<void> {
  const { reply, fault, latencyMs, signal, retryAfter } = delivery;
  if (latencyMs > 0) await sleep(latencyMs, undefined, { signal });
  switch (fault) {
    case "reset-before":
      return cut(response, delivery);
    case "reset-mid-body":
      return cutMidBody(response, delivery);
    case "hang":
      return untilAborted(signal);
    case "slow-drip":
      return drip(response, reply, signal);
    case "slowloris":
      return loris(response, reply, signal);
    case "gzip-bomb":
      return bomb(response, reply, signal);
    case "redirect":
      return sendWhole(response, DETOUR);
    case "html-200":
      return sendWhole(response, HTML);
    case "malformed-json":
      return sendWhole(response, malformed(reply));
    case "invalid-json":
      return sendWhole(response, unquoted(reply));
    case "wrong-json":
      return sendWhole(response, json('{"greeting":"hello"}'));
    case "empty-200":
      return sendWhole(response, json(""));
    case "http-421":
    case "http-502":
      return sendWhole(response, errorPage(Number(fault.slice(-3))));
    case "http-503-gateway":
      return sendWhole(response, errorPage(503));
    case "http-201":
    case "http-202":
      return sendWhole(response, { ...reply, status: Number(fault.slice(-3)) });
    default:
      return sendWhole(response, fault === undefined ? reply : errorReply(fault, retryAfter));
  }
}
