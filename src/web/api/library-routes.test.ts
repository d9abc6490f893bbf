/** What an import may hold in memory. */

import { Hono } from "hono";
import { expect, test } from "vitest";
import { openApp } from "../../../test/kit/store/operation-deps.ts";
import type { App } from "../../app.ts";
import { type CallerEnv, LOCAL_CALLER, networkCaller } from "../../caller.ts";
import { AppError } from "../../errors.ts";
import { serveLibrary } from "./library-routes.ts";

/** The routes, for the user whom a header names. */
function openRoutes(): (owner: string, body: NonNullable<RequestInit["body"]>) => Promise<Response> {
  const { deps } = openApp();
  const web = new Hono<CallerEnv>();
  web.use(async (context, next) => {
    const owner = context.req.header("owner") ?? "";
    context.set("caller", owner === "local" ? LOCAL_CALLER : networkCaller(owner));
    await next();
  });
  const shutdown = { during: <Result>(work: Promise<Result>) => work };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the routes use no more of it
  serveLibrary(web, { deps, shutdown } as unknown as App);
  web.onError((error) =>
    Response.json({ code: error instanceof AppError ? error.code : String(error), error: error.message }),
  );
  return async (owner, body) =>
    web.request("/api/library?name=report.md", {
      method: "POST",
      headers: { owner },
      body,
      duplex: "half",
    });
}

const answerOf = async (response: Promise<Response>): Promise<string> => (await response).text();

test("a user who is not the operator uploads no more than a report, and few users at once (Z4, T15)", async () => {
  const upload = openRoutes();
  const large = Buffer.alloc(2_000_001);
  expect(await answerOf(upload("anna", large))).toContain("The body is larger than 2 MB.");
  // Of the operator it is read, and is no report.
  expect(await answerOf(upload("local", large))).toContain("report.md is larger than 2 MB.");
  const waiting = Array.from({ length: 8 }, (_, index) => {
    const body = new TransformStream<Uint8Array, Uint8Array>();
    const answer = answerOf(upload(`user ${index}`, body.readable));
    return { answer, close: () => body.writable.abort(new Error("gone")) };
  });
  await expect.poll(() => answerOf(upload("anna", "x"))).toContain("BUSY");
  for (const { close } of waiting) await close();
  await Promise.all(waiting.map(({ answer }) => answer));
  expect(await answerOf(upload("anna", "\0"))).not.toContain("BUSY");
});
