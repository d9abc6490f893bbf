import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { InMemoryServerEventBus, McpServer } from "@modelcontextprotocol/server";
import { expect, onTestFinished, test } from "vitest";
import { createModernHandlers, type ModernHandlers } from "./modern-handlers.ts";

interface Stage extends ModernHandlers {
  /** Publishes an event to the streams of an owner. */
  publish(owner: string, kind: "tools_list_changed" | "resources_list_changed"): void;
  /** How many handlers were created for the owner. */
  created(owner: string): number;
}

function stage(maxOwners?: number): Stage {
  const buses: { owner: string; bus: InMemoryServerEventBus }[] = [];
  const of = (owner: string) => buses.filter((entry) => entry.owner === owner);
  const handlers = createModernHandlers({
    events: (owner) => {
      const bus = new InMemoryServerEventBus();
      buses.push({ owner, bus });
      return {
        publish: (event) => bus.publish(event),
        subscribe: (listener) => bus.subscribe(listener),
        hasListeners: () => bus.listenerCount > 0,
      };
    },
    build: () =>
      new McpServer(
        { name: "test", version: "1" },
        { capabilities: { tools: { listChanged: true }, resources: { listChanged: true } } },
      ),
    onerror: () => {},
    ...(maxOwners !== undefined && { maxOwners }),
  });
  onTestFinished(() => handlers.close());
  return {
    ...handlers,
    publish: (owner, kind) => of(owner).at(-1)?.bus.publish({ kind }),
    created: (owner) => of(owner).length,
  };
}

/** The official client, without a network. */
async function connect(handlers: ModernHandlers, owner: string): Promise<Client> {
  const transport = new StreamableHTTPClientTransport(new URL("http://localhost/mcp"), {
    fetch: async (url, init) => {
      const request = new Request(url, init);
      return handlers.handle(request, { owner, from: "network" }, await request.json());
    },
  });
  const client = new Client({ name: owner, version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

interface Listener {
  /** How many notifications about tools it received. */
  received: () => number;
  /** Resolves with a notification about resources: everything that was sent before has arrived too. */
  fence: Promise<void>;
}

async function listen(handlers: ModernHandlers, owner: string): Promise<Listener> {
  const client = await connect(handlers, owner);
  let received = 0;
  client.setNotificationHandler("notifications/tools/list_changed", () => void (received += 1));
  const fence = new Promise<void>((resolve) => {
    client.setNotificationHandler("notifications/resources/list_changed", () => resolve());
  });
  await client.listen({ toolsListChanged: true, resourcesListChanged: true });
  return { received: () => received, fence };
}

test("notifications for one owner reach no stream of another (A9, T14)", async () => {
  const handlers = stage();
  const listeners = [await listen(handlers, "anna"), await listen(handlers, "anna"), await listen(handlers, "bert")];
  handlers.publish("anna", "tools_list_changed");
  for (const owner of ["anna", "bert"]) handlers.publish(owner, "resources_list_changed");
  await Promise.all(listeners.map(({ fence }) => fence));
  expect(listeners.map(({ received }) => received())).toEqual([1, 1, 0]);
});

test("a new owner with a stream is kept above the limit too (A9)", async () => {
  const handlers = stage(1);
  const listeners = [await listen(handlers, "anna"), await listen(handlers, "bert")];
  for (const owner of ["anna", "bert"]) await connect(handlers, owner);
  for (const owner of ["anna", "bert"]) handlers.publish(owner, "tools_list_changed");
  for (const owner of ["anna", "bert"]) handlers.publish(owner, "resources_list_changed");
  await Promise.all(listeners.map(({ fence }) => fence));
  expect(listeners.map(({ received }) => received())).toEqual([1, 1]);
  expect(["anna", "bert"].map(handlers.created)).toEqual([1, 1]);
});

test("no more owners than the limit are kept, and none with a stream is dropped (A9)", async () => {
  const handlers = stage(2);
  const anna = await listen(handlers, "anna");
  for (const owner of ["bert", "carl", "dora"]) await connect(handlers, owner);
  for (const owner of ["dora", "anna", "bert"]) await connect(handlers, owner);
  expect(["anna", "bert", "dora"].map(handlers.created)).toEqual([1, 2, 1]);
  handlers.publish("anna", "resources_list_changed");
  await anna.fence;
});
