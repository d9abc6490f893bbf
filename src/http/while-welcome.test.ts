import { expect, test, vi } from "vitest";
import { whileWelcome } from "./while-welcome.ts";

interface Source {
  response: Response;
  say(text: string): void;
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
    say: (text) => controller.enqueue(new TextEncoder().encode(text)),
    end: () => controller.close(),
    cancelled: () => cancelled,
  };
}

test("A9 a stream passes as it is while its token is good, and asks no more once it has ended", async () => {
  const { response, say, end } = stream();
  let asked = 0;
  const isWelcome = async (): Promise<boolean> => (asked += 1) > 0;
  const watched = whileWelcome(response, { isWelcome, askAgainMs: 1 });
  expect(watched.headers.get("x-accel-buffering")).toBe("no");
  say("data: one\n\n");
  await vi.waitFor(() => expect(asked).toBeGreaterThan(1));
  say("data: two\n\n");
  end();
  expect(await watched.text()).toBe("data: one\n\ndata: two\n\n");
});

test("A9 the stream of a revoked token is ended on both sides; a fault while asking ends nothing", async () => {
  const { response, say, cancelled } = stream();
  const answers = [Promise.resolve(true), Promise.reject(new Error("busy")), Promise.resolve(false)];
  for (const answer of answers) answer.catch(() => undefined);
  const watched = whileWelcome(response, { isWelcome: () => answers.shift() ?? Promise.resolve(false), askAgainMs: 1 });
  say("data: one\n\n");
  await expect(watched.text()).rejects.toThrow("no longer accepted");
  await vi.waitFor(() => expect(cancelled()).toBe(true));
  expect(answers).toEqual([]);
});

test("A9 a reader who goes away is told to the source, and an answer that is no stream is left alone", async () => {
  const { response, cancelled } = stream();
  const watched = whileWelcome(response, { isWelcome: async () => true });
  await watched.body?.cancel();
  await vi.waitFor(() => expect(cancelled()).toBe(true));
  const plain = Response.json({});
  expect(whileWelcome(plain, { isWelcome: async () => false })).toBe(plain);
});
