/**
 * `subscriptions/listen` over stdio. The SDK acknowledges it before any server instance is involved, so only the
 * messages show which subscriptions are open: our acknowledgement on the way out, the client's cancel on the way in.
 */

import {
  type JSONRPCMessage,
  type Server,
  type ServerEventBus,
  SUBSCRIPTION_ID_META_KEY,
  type Transport,
} from "@modelcontextprotocol/server";
import { isRecord } from "../../platform/is-record.ts";
import { sendEvent } from "../resources/subscriptions.ts";

interface TrackedTransport {
  /** Passes every message on unchanged. */
  transport: Transport;
  /** Sets the server instance that sends the notifications; the SDK routes them to the subscriptions. */
  notifyFrom: (server: Server) => void;
}

/** `onClose` is called when the transport has closed, whichever side closed it. */
export function trackSubscriptions(
  inner: Transport,
  bus: ServerEventBus,
  onClose: () => void = () => {},
): TrackedTransport {
  const openIds = new Set<unknown>();
  let sender: Server | undefined;
  let unsubscribe: (() => void) | undefined;
  const update = (): void => {
    if (openIds.size > 0) {
      unsubscribe ??= bus.subscribe((event) => {
        if (sender !== undefined) sendEvent(sender, event).catch(() => {});
      });
    } else {
      unsubscribe?.();
      unsubscribe = undefined;
    }
  };
  const transport: Transport = {
    start: () => {
      const handlers: Pick<Transport, "onmessage" | "onerror" | "onclose"> = {
        onmessage: (message, extra) => {
          if (openIds.delete(cancelledId(message))) update();
          transport.onmessage?.(message, extra);
        },
        onerror: (error) => transport.onerror?.(error),
        onclose: () => {
          openIds.clear();
          update();
          transport.onclose?.();
          onClose();
        },
      };
      return Object.assign(inner, handlers).start();
    },
    send: (message, options) => {
      const id = acknowledgedId(message);
      if (id !== undefined) {
        openIds.add(id);
        update();
      }
      return inner.send(message, options);
    },
    close: () => inner.close(),
  };
  return { transport, notifyFrom: (server) => void (sender = server) };
}

/** The id of the subscription that this message acknowledges, if it is about runs. */
function acknowledgedId(message: JSONRPCMessage): unknown {
  if (!("method" in message) || message.method !== "notifications/subscriptions/acknowledged") return undefined;
  const { _meta: meta, notifications: granted } = message.params ?? {};
  if (!isRecord(meta) || !isRecord(granted)) return undefined;
  const { resourcesListChanged, resourceSubscriptions } = granted;
  if (resourcesListChanged !== true && resourceSubscriptions === undefined) return undefined;
  return meta[SUBSCRIPTION_ID_META_KEY];
}

function cancelledId(message: JSONRPCMessage): unknown {
  const isCancel = "method" in message && message.method === "notifications/cancelled";
  return isCancel ? message.params?.["requestId"] : undefined;
}
