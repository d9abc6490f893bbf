/** Which messages open and end a subscription, and that every message is passed on unchanged. */

import type { JSONRPCMessage, ServerEvent, Transport } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { trackSubscriptions } from "./tracked-subscriptions.ts";

function openWire() {
  const sent: JSONRPCMessage[] = [];
  const received: JSONRPCMessage[] = [];
  const wire: Transport = {
    start: () => Promise.resolve(),
    send: async (message) => void sent.push(message),
    close: async () => wire.onclose?.(),
  };
  let listeners = 0;
  const { transport } = trackSubscriptions(wire, {
    publish: (_event: ServerEvent) => {},
    subscribe: () => {
      listeners += 1;
      return () => void (listeners -= 1);
    },
  });
  let closed = false;
  Object.assign(transport, {
    onmessage: (message: JSONRPCMessage) => void received.push(message),
    onclose: () => void (closed = true),
  });
  return {
    wire,
    transport,
    sent,
    received,
    listeners: () => listeners,
    closed: () => closed,
    acknowledge: (id: string | number, notifications: object) =>
      transport.send({
        jsonrpc: "2.0",
        method: "notifications/subscriptions/acknowledged",
        params: { notifications, _meta: { "io.modelcontextprotocol/subscriptionId": id } },
      }),
    cancel: (requestId: string | number) =>
      wire.onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } }),
  };
}

test("there is one subscription from the first listen request about runs to the last cancel", async () => {
  const wire = openWire();
  await wire.transport.start();
  await wire.acknowledge("tools", { toolsListChanged: true });
  expect(wire.listeners()).toBe(0);
  await wire.acknowledge("list", { resourcesListChanged: true });
  await wire.acknowledge(7, { resourceSubscriptions: ["research://runs"] });
  expect(wire.listeners()).toBe(1);
  wire.cancel("another call");
  wire.cancel("list");
  expect(wire.listeners()).toBe(1);
  wire.cancel(7);
  expect(wire.listeners()).toBe(0);
  expect(wire.sent).toHaveLength(3);
  expect(wire.received).toHaveLength(3);
});

test("a closed transport ends every listen request", async () => {
  const wire = openWire();
  await wire.transport.start();
  await wire.acknowledge("list", { resourcesListChanged: true });
  await wire.transport.close();
  expect(wire.listeners()).toBe(0);
  expect(wire.closed()).toBe(true);
});
