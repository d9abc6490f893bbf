import { expect, test, vi } from "vitest";
import { onResponseEnd } from "./responses.ts";
import { waitFor } from "../../../test/kit/wait-for.ts";

test("a stream ends when it is complete or its reader disconnects, any other response at once (A9)", async () => {
  const over = vi.fn<() => void>();
  onResponseEnd(Response.json({}), over);
  expect(over).toHaveBeenCalledTimes(1);
  const headers = { "content-type": "text/event-stream" };
  const ended = onResponseEnd(new Response("data: x\n\n", { headers }), over);
  expect(await ended.text()).toBe("data: x\n\n");
  await waitFor(() => expect(over).toHaveBeenCalledTimes(2));
  const open = onResponseEnd(new Response(new ReadableStream(), { headers }), over);
  await open.body?.cancel();
  await waitFor(() => expect(over).toHaveBeenCalledTimes(3));
});
