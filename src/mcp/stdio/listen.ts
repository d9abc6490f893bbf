/**
 * `subscriptions/listen` on stdio. The SDK answers it before any server is asked and tells nobody, so that only the
 * wire shows when somebody listens: our own acknowledgement goes out, and the client's cancel comes in.
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

export interface Listens {
  /** The wire, overheard. */
  transport: Transport;
  /** Who says what has changed; the SDK sends it on to whom it concerns. */
  speaker: (server: Server) => void;
}

/** `closed`: the wire is, whoever closed it. */
export function overhearListens(wire: Transport, bus: ServerEventBus, closed: () => void = () => {}): Listens {
  const open = new Set<unknown>();
  let speaker: Server | undefined;
  let stop: (() => void) | undefined;
  const attend = (): void => {
    if (open.size > 0) {
      stop ??= bus.subscribe((event) => {
        if (speaker !== undefined) sendEvent(speaker, event).catch(() => {});
      });
    } else {
      stop?.();
      stop = undefined;
    }
  };
  const transport: Transport = {
    start: () => {
      const heard: Pick<Transport, "onmessage" | "onerror" | "onclose"> = {
        onmessage: (message, extra) => {
          if (open.delete(cancelled(message))) attend();
          transport.onmessage?.(message, extra);
        },
        onerror: (error) => transport.onerror?.(error),
        onclose: () => {
          open.clear();
          attend();
          transport.onclose?.();
          closed();
        },
      };
      return Object.assign(wire, heard).start();
    },
    send: (message, options) => {
      const id = acknowledged(message);
      if (id !== undefined) {
        open.add(id);
        attend();
      }
      return wire.send(message, options);
    },
    close: () => wire.close(),
  };
  return { transport, speaker: (server) => void (speaker = server) };
}

/** The subscription that begins with this message, if it is about runs. */
function acknowledged(message: JSONRPCMessage): unknown {
  if (!("method" in message) || message.method !== "notifications/subscriptions/acknowledged") return undefined;
  const { _meta: meta, notifications: granted } = message.params ?? {};
  if (!isRecord(meta) || !isRecord(granted)) return undefined;
  const { resourcesListChanged, resourceSubscriptions } = granted;
  if (resourcesListChanged !== true && resourceSubscriptions === undefined) return undefined;
  return meta[SUBSCRIPTION_ID_META_KEY];
}

function cancelled(message: JSONRPCMessage): unknown {
  const isCancel = "method" in message && message.method === "notifications/cancelled";
  return isCancel ? message.params?.["requestId"] : undefined;
}
