import { expect, test } from "vitest";
import { tryCrowd } from "./clients.ts";

test("fifty clients with the same request ids and progress tokens each receive only their own messages (T14)", async (context) => {
  const { tried, broken } = await tryCrowd(context, { clients: 50, calls: 6 });
  expect(broken.slice(0, 5)).toEqual([]);
  expect(tried).toBe(300);
});
