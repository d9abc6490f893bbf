import { expect, test, vi } from "vitest";
import type { Credential } from "./browser/sessions.ts";
import { createEndWhenRevoked } from "./revocation.ts";
import { waitFor } from "../../test/kit/wait-for.ts";

interface Source {
  response: Response;
  send(text: string): void;
  end(): void;
  cancelled: () => boolean;
}

function stream(): Source {
  let controller: ReadableStreamDefaultController<Uint8Array>;
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    start: (own) => {
      controller = own;
    },
    cancel: () => {
      cancelled = true;
    },
  });
  return {
    response: new Response(body, { headers: { "content-type": "text/event-stream", "x-accel-buffering": "no" } }),
    send: (text) => controller.enqueue(new TextEncoder().encode(text)),
    end: () => controller.close(),
    cancelled: () => cancelled,
  };
}

const ANN: Credential = { owner: "ann", tokenHash: "a" };
const BOB: Credential = { owner: "bob", tokenHash: "b" };

test("a stream passes unchanged while its token is valid, and nothing is checked after the last stream ends (A9)", async () => {
  const { response, send, end } = stream();
  let checks = 0;
  const findRevoked = async (): Promise<Set<Credential>> => {
    checks += 1;
    return new Set();
  };
  const watched = createEndWhenRevoked({ findRevoked, checkEveryMs: 1 })(response, ANN);
  expect(watched.headers.get("x-accel-buffering")).toBe("no");
  send("data: one\n\n");
  await waitFor(() => expect(checks).toBeGreaterThan(1));
  send("data: two\n\n");
  end();
  expect(await watched.text()).toBe("data: one\n\ndata: two\n\n");
  await new Promise((resolve) => void setTimeout(resolve, 10));
  const before = checks;
  await new Promise((resolve) => void setTimeout(resolve, 20));
  expect(checks).toBe(before);
});

test("one check serves all streams and ends those of the revoked token only; a failed check ends none (A9)", async () => {
  const [anns, bobs] = [stream(), stream()];
  const asked: (readonly Credential[])[] = [];
  const findRevoked = async (credentials: readonly Credential[]): Promise<Set<Credential>> => {
    asked.push(credentials);
    if (asked.length === 1) throw new Error("busy");
    return new Set(asked.length === 2 ? [] : [ANN]);
  };
  const endWhenRevoked = createEndWhenRevoked({ findRevoked, checkEveryMs: 1 });
  const [ann, bob] = [endWhenRevoked(anns.response, ANN), endWhenRevoked(bobs.response, BOB)];
  anns.send("data: one\n\n");
  expect(await ann.text()).toBe("data: one\n\n");
  await waitFor(() => expect(anns.cancelled()).toBe(true));
  expect(asked.slice(0, 3)).toEqual([
    [ANN, BOB],
    [ANN, BOB],
    [ANN, BOB],
  ]);
  bobs.send("data: two\n\n");
  bobs.end();
  expect(await bob.text()).toBe("data: two\n\n");
});

test("a reader that disconnects cancels the source, and a response without a stream is passed through (A9)", async () => {
  const { response, cancelled } = stream();
  const endWhenRevoked = createEndWhenRevoked({ findRevoked: async () => new Set() });
  await endWhenRevoked(response, ANN).body?.cancel();
  await waitFor(() => expect(cancelled()).toBe(true));
  const plain = Response.json({});
  expect(endWhenRevoked(plain, ANN)).toBe(plain);
});

test("a stream ends less than a second after its token's revocation (A9)", async (context) => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  context.onTestFinished(() => void vi.useRealTimers());
  let revoked = new Set<Credential>();
  const { response, cancelled } = stream();
  const watched = createEndWhenRevoked({ findRevoked: async () => revoked })(response, ANN);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(cancelled()).toBe(false);
  revoked = new Set([ANN]);
  await vi.advanceTimersByTimeAsync(900);
  expect(await watched.text()).toBe("");
});
