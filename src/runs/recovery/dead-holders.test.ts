/** The leases of processes that have died. */

import { expect, test } from "vitest";
import { openRunner } from "../../../test/kit/store/runner.ts";
import { insertRun, rowOf } from "../../../test/kit/store/store-rows.ts";
import { localQueue } from "../../queue/local.ts";
import { createLocalPoller } from "../scheduling/local-poller.ts";

test("the poller of another process releases the lease of a dead one, and leaves its own (P2)", async (t) => {
  const { store, deps } = await openRunner(t);
  const { db, processId } = store;
  const until = Date.now() + 60_000;
  await insertRun(db, { task_id: "dead", lease_owner: "gone", lease_until: until, next_poll_at: until });
  await insertRun(db, { task_id: "own", lease_owner: processId, lease_until: until, next_poll_at: until });
  const options = { pollIntervalMs: 10_000, maxRps: 5, deliver: async () => {}, wake: () => {} };
  await createLocalPoller({ ...options, deps: { ...deps({}), queue: localQueue } }).sweep();
  expect(await rowOf(db, "dead")).toMatchObject({ lease_until: null });
  expect(await rowOf(db, "own")).toMatchObject({ lease_until: until });
});
