/** Several owners on one app, without a port: each reads, and is notified of, its own runs only. */

import { rmSync } from "node:fs";
import { Client, InMemoryTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createMcpHandler, type ServerEvent } from "@modelcontextprotocol/server";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type App, createApp } from "../../src/app.ts";
import { buildServer } from "../../src/mcp/server.ts";
import { runEventsOf } from "../../src/mcp/resources/subscriptions.ts";
import { insertRunning } from "../../src/runs/run-store.ts";
import { toolSet } from "../../src/config/tool-sets.ts";
import { temporaryDirectory } from "../kit/server/server.ts";

const WITHIN = { timeout: 60_000, interval: 25 };
const RUNS = "research://runs";

interface World {
  app: App;
  /** How often the store was opened. */
  asked: () => number;
  start: (owner: string) => Promise<string>;
  move: (taskId: string, progress: number) => Promise<unknown>;
  client: (owner: string) => Promise<Client>;
}

function openWorld(): World {
  const configDir = temporaryDirectory();
  vi.stubEnv("GEMINI_SEARCH_CONFIG_DIR", configDir);
  const created = createApp({ logFrom: "ERROR" });
  vi.unstubAllEnvs();
  onTestFinished(async () => {
    await (await created.deps.database()).destroy();
    rmSync(configDir, { recursive: true, force: true });
  });
  let asked = 0;
  const database = () => {
    asked += 1;
    return created.deps.database();
  };
  const app = { ...created, deps: { ...created.deps, database } };
  return {
    app,
    asked: () => asked,
    start: async (owner) => {
      const { db, processId } = await created.deps.recorder();
      const run = { taskId: crypto.randomUUID(), owner, kind: "search", query: `A question of ${owner}` } as const;
      await insertRunning(db, { ...run, options: {}, client: undefined, processId, now: Date.now() });
      return run.taskId;
    },
    move: async (taskId, progress) => {
      const { db } = await created.deps.recorder();
      const change = { progress, updated_at: Date.now() };
      return db.updateTable("research_tasks").set(change).where("task_id", "=", taskId).execute();
    },
    client: (owner) => connect(app, owner),
  };
}

async function connect(app: App, owner: string): Promise<Client> {
  const { fetch, close } = createMcpHandler(
    ({ era }) => buildServer(app, { caller: { owner, from: "network" }, protocolEra: era, tools: toolSet("all") }),
    {
      bus: runEventsOf(app, owner),
    },
  );
  const client = new Client({ name: owner, version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  const url = new URL("http://127.0.0.1/mcp");
  await client.connect(
    new StreamableHTTPClientTransport(url, { fetch: (input, init) => fetch(new Request(input, init)) }),
  );
  onTestFinished(async () => {
    await client.close();
    await close();
  });
  return client;
}

/** Every URI that a client was notified of; a change of the list counts as one more. */
function earOf(client: Client): string[] {
  const received: string[] = [];
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => void received.push(params.uri));
  client.setNotificationHandler("notifications/resources/list_changed", () => void received.push("list"));
  return received;
}

test("no client finds, completes or reads a run of another owner (T14, T-5)", async () => {
  const world = openWorld();
  const [anna, ben] = [await world.client("anna"), await world.client("ben")];
  const [annas, bens] = [await world.start("anna"), await world.start("ben")];
  for (const [client, own, other] of [[anna, annas, bens] as const, [ben, bens, annas] as const]) {
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual([RUNS, `${RUNS}/${own}`]);
    const argument = { name: "task_id", value: "" };
    const { completion } = await client.complete({ ref: { type: "ref/resource", uri: `${RUNS}/{task_id}` }, argument });
    expect(completion.values).toEqual([own]);
    const list = JSON.stringify(await client.readResource({ uri: RUNS }));
    expect(list).toContain(own);
    expect(list).not.toContain(other);
    expect(await client.readResource({ uri: `${RUNS}/${own}` })).toMatchObject({ contents: [{}] });
    for (const uri of [`${RUNS}/${other}`, `${RUNS}/${other}/report.md`]) {
      await expect(client.readResource({ uri })).rejects.toMatchObject({
        code: -32_602,
        message: "There is no run with this id.",
      });
    }
  }
});

test("subscribers over HTTP are notified of their own runs only (T14)", async () => {
  const world = openWorld();
  const [anna, ben] = [await world.client("anna"), await world.client("ben")];
  const [annasEar, bensEar] = [earOf(anna), earOf(ben)];
  const bens = await world.start("ben");
  const filter = { resourceSubscriptions: [RUNS, `${RUNS}/${bens}`], resourcesListChanged: true };
  await anna.listen(filter);
  await ben.listen(filter);
  await world.move(bens, 40);
  await vi.waitFor(() => expect(bensEar).toContain(`${RUNS}/${bens}`), WITHIN);
  await world.start("anna");
  await vi.waitFor(() => expect(annasEar).toEqual([RUNS, "list"]), WITHIN);
});

describe("the run events of an owner", () => {
  /** Timers that only waiting advances, once the store is open. */
  async function openStillWorld(): Promise<World> {
    const world = openWorld();
    await world.start("anna");
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    return world;
  }

  async function expectSilence(world: World): Promise<void> {
    const asked = world.asked();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(world.asked()).toBe(asked);
  }

  async function expectLooks(world: World): Promise<void> {
    const asked = world.asked();
    await vi.waitFor(() => expect(world.asked()).toBeGreaterThan(asked + 1), WITHIN);
  }

  test("are read from the store while there is a subscriber, and not before or after", async () => {
    const world = await openStillWorld();
    const bus = runEventsOf(world.app, "anna");
    await expectSilence(world);
    const received: ServerEvent[] = [];
    const [first, second] = [bus.subscribe((event) => received.push(event)), bus.subscribe(() => {})];
    const taskId = await world.start("anna");
    await vi.waitFor(() => expect(received.length).toBeGreaterThan(2), WITHIN);
    expect(received.slice(-3)).toEqual([
      { kind: "resource_updated", uri: `${RUNS}/${taskId}` },
      { kind: "resource_updated", uri: RUNS },
      { kind: "resources_list_changed" },
    ]);
    first();
    first();
    await expectLooks(world);
    second();
    await expectSilence(world);
    bus.subscribe(() => {});
    await expectLooks(world);
  });

  test("are read for a legacy client only while it is subscribed and connected", async () => {
    const world = await openStillWorld();
    const [near, far] = InMemoryTransport.createLinkedPair();
    const caller = { owner: "anna", from: "network" } as const;
    await buildServer(world.app, { caller, protocolEra: "legacy", tools: toolSet("all") }).connect(far);
    const client = new Client({ name: "old", version: "1" }, { versionNegotiation: { mode: "legacy" } });
    await client.connect(near);
    await client.listTools();
    await client.listPrompts();
    await client.readResource({ uri: RUNS });
    await expectSilence(world);
    await client.subscribeResource({ uri: RUNS });
    await expectLooks(world);
    await client.unsubscribeResource({ uri: RUNS });
    await expectSilence(world);
    await client.listResources();
    await expectLooks(world);
    await client.close();
    await expectSilence(world);
  });

  test("reach every other subscriber when one of them throws", () => {
    const bus = runEventsOf(openWorld().app, "anna");
    const received: ServerEvent[] = [];
    const leave = [
      bus.subscribe(() => {
        throw new Error("a failing subscriber");
      }),
      bus.subscribe((event) => received.push(event)),
    ];
    bus.publish({ kind: "resources_list_changed" });
    for (const stop of leave) stop();
    expect(received).toEqual([{ kind: "resources_list_changed" }]);
  });
});
