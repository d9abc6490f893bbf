/** Notifications about changed runs on a real PostgreSQL: what is sent, lost connections, poolers that forward nothing. */

import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { createRunNotifications } from "../../src/store/postgres/run-notifications.ts";
import { openStore, type Store } from "../../src/store/store.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { ask, sharedFor } from "../kit/store/databases.ts";
import { insertRun } from "../kit/store/store-rows.ts";
import { type RunChanges, watchRuns } from "../../src/runs/history/change-feed.ts";
import { waitFor } from "../kit/wait-for.ts";
import { silentLog as log } from "../kit/log.ts";

const SOON = { interval: 20 };

async function open(): Promise<Store & { url: string }> {
  const shared = await sharedFor();
  const store = await openStore({ file: undefined, shared, clock: systemClock, log });
  onTestFinished(() => store.close());
  return { ...store, url: shared?.url ?? "" };
}

async function subscribed({ notifications }: Store, owner = "ann"): Promise<(string | undefined)[]> {
  const received: (string | undefined)[] = [];
  onTestFinished(notifications?.subscribe(owner, (taskId) => received.push(taskId)) ?? (() => {}));
  await waitFor(() => expect(notifications?.isLive()).toBe(true), SOON);
  return received.splice(0) && received;
}

const listeners = async (url: string): Promise<number> =>
  (await ask(url, "select pid from pg_stat_activity where datname = current_database() and query like 'listen%'"))
    .length;

const markSent = async (url: string): Promise<void> => {
  await ask(
    url,
    "insert into research_tasks (task_id, owner, kind, query, created_at, updated_at) values ('mark', 'ann', 'search', '', 1, 1)",
  );
};

test("only visible changes are sent, once per run and transaction, to subscribers of the owner (P7, J3)", async () => {
  const store = await open();
  const { db, url } = store;
  await insertRun(db, { task_id: "own", owner: "ann" });
  await insertRun(db, { task_id: "theirs", owner: "bob" });
  const received = await subscribed(store);
  await ask(url, "update research_tasks set updated_at = 5, next_poll_at = 6, lease_owner = 'p', progress = progress");
  await ask(url, "update research_tasks set progress = 7");
  await ask(url, "begin; update research_tasks set progress = 8; update research_tasks set status = 'failed'; commit");
  for (const mark of ["title = 'Mine'", "starred = 1", "archived = 1"]) {
    await ask(url, `update research_tasks set ${mark}`);
    await ask(url, `update research_tasks set ${mark}, updated_at = 9`);
  }
  await markSent(url);
  await waitFor(() => expect(received).toContain("mark"), SOON);
  expect(received).toEqual(["own", "own", "own", "own", "own", "mark"]);
});

test("a notification contains no user and no question (P7, T9)", async () => {
  const store = await open();
  const client = new Client({ connectionString: store.url });
  await client.connect();
  onTestFinished(() => client.end());
  const payloads: (string | undefined)[] = [];
  client.on("notification", ({ payload }) => payloads.push(payload));
  await client.query("listen gemini_search_runs");
  await insertRun(store.db, { task_id: "t-1", owner: "ann@example.org", query: "secret" });
  await waitFor(() => expect(payloads).toHaveLength(1), SOON);
  expect(payloads[0]).toMatch(/^[\da-f]{16} t-1$/);
});

test("one connection listens for all subscribers, and none while there are none (P7)", async () => {
  const store = await open();
  expect(await listeners(store.url)).toBe(0);
  const stops = ["ann", "bob", "ann"].map((owner) => store.notifications?.subscribe(owner, () => {}));
  await waitFor(() => expect(store.notifications?.isLive()).toBe(true), SOON);
  expect(await listeners(store.url)).toBe(1);
  for (const stop of stops) stop?.();
  await waitFor(async () => expect(await listeners(store.url)).toBe(0), SOON);
});

test("a lost connection is opened again, and changes missed meanwhile are read (P7)", async () => {
  const store = await open();
  const received = await subscribed(store);
  const changes: RunChanges[] = [];
  const watch = { database: async () => store.db, notifications: async () => store.notifications, clock: systemClock };
  onTestFinished(watchRuns({ ...watch, owner: "ann" }, (changed) => changes.push(changed)));
  await ask(
    store.url,
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'listen%'",
  );
  await insertRun(store.db, { task_id: "missed", owner: "ann", created_at: Date.now(), updated_at: Date.now() });
  await waitFor(() => expect(changes.flatMap(({ written }) => written)).toEqual(["missed"]), SOON);
  await waitFor(() => expect(store.notifications?.isLive()).toBe(true), SOON);
  // Subscribers are notified that changes may be lost, at the disconnection and at the reconnection.
  expect(received.filter((taskId) => taskId === undefined).length).toBeGreaterThanOrEqual(2);
  await markSent(store.url);
  await waitFor(() => expect(received).toContain("mark"), SOON);
});

test("when notifications do not arrive, changes are read by polling (P7)", async () => {
  const store = await open();
  let sent = 0;
  const dropped = createRunNotifications({
    createClient: () => new Client({ connectionString: store.url }),
    send: async () => (sent += 1),
    log,
  });
  onTestFinished(() => dropped.close());
  dropped.subscribe("ann", () => {});
  await waitFor(() => expect(sent).toBe(1), SOON);
  expect(dropped.isLive()).toBe(false);
  // Behind a pooler that forwards nothing, the connection is closed and retried later.
  await waitFor(() => expect(sent).toBe(2), { interval: 100 });
});

test("an update of a run's progress touches no index (P7)", async () => {
  const { url } = await open();
  await ask(
    url,
    `insert into research_tasks (task_id, owner, kind, query, status, created_at, updated_at)
    select 'run-' || n, 'owner-' || n % 10, 'agent', repeat('q', 100), 'running_async', n, n from generate_series(1, 500) as n`,
  );
  const seen = "progress = progress + 1, current_action = 'Reading', updated_at = updated_at + 1";
  // One row per page, so that all its versions fit beside the others: no update depends on when a page is pruned.
  for (const _ of [1, 2, 3, 4]) {
    await ask(
      url,
      `update research_tasks set ${seen} where task_id in (select 'run-' || 100 * n from generate_series(1, 5) as n)`,
    );
  }
  const counts = "n_tup_upd as updated, n_tup_hot_upd as hot";
  await waitFor(async () => {
    const [row] = await ask<{ updated: number; hot: number }>(
      url,
      `select ${counts} from pg_stat_user_tables where relname = 'research_tasks'`,
    );
    expect(row).toEqual({ updated: 20, hot: 20 });
  }, SOON);
});
