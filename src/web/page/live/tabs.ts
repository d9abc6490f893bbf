/**
 * One stream for all visible tabs: over HTTP/1.1 a browser has six connections to a server, and each stream takes one.
 * The tab with the lock reads it and passes events on; when it is hidden or closed, another one gets the lock.
 */

import { PAGE_SECRET_ITEM } from "../../wire.ts";
import { readStored } from "../app/browser-storage.ts";
import { type Delivery, openSharedStream, type SharedStream, type Watched } from "./shared-stream.ts";

type Message =
  | { join: string; watched: Watched | undefined }
  | { leave: string }
  | { leader: true }
  | { delivery: Delivery };

interface TabEvents {
  received: (delivery: Delivery) => void;
  /** The run that this tab watches now. */
  watched: () => Watched | undefined;
}

export interface Tab {
  /** Call it again when the tab watches another run. */
  join: () => void;
  leave: () => void;
}

export function createTab({ received, watched }: TabEvents): Tab {
  const self = Math.random().toString(36);
  // Tabs of another session have another secret, so they receive nothing.
  const name = `live ${readStored("localStorage", PAGE_SECRET_ITEM) ?? ""}`;
  // Without TLS, browsers have locks on loopback only: elsewhere each tab has a stream of its own.
  const locks = isSecureContext ? navigator.locks : undefined;
  const channel = locks === undefined ? undefined : new BroadcastChannel(name);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel reaches its own origin only
  const post = (message: Message): void => channel?.postMessage(message);
  let membership: AbortController | undefined;
  let stream: SharedStream | undefined;

  const announce = (): void => {
    if (stream === undefined) post({ join: self, watched: watched() });
    else stream.join(self, watched());
  };
  const lead = (): void => {
    stream = openSharedStream((delivery) => {
      received(delivery);
      post({ delivery });
    });
    announce();
    post({ leader: true });
  };
  const waitForLock = async ({ signal }: AbortController): Promise<void> => {
    await locks?.request(name, { signal }, async () => {
      if (signal.aborted) return;
      lead();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    });
  };
  channel?.addEventListener("message", ({ data }: MessageEvent<Message>) => {
    if ("join" in data) stream?.join(data.join, data.watched);
    else if ("leave" in data) stream?.leave(data.leave);
    else if ("leader" in data && membership !== undefined) announce();
    else if ("delivery" in data && membership !== undefined) received(data.delivery);
  });
  return {
    join: () => {
      if (membership !== undefined) {
        announce();
        return;
      }
      membership = new AbortController();
      if (locks === undefined) lead();
      else {
        announce();
        // Rejected when this tab leaves before it got the lock.
        waitForLock(membership).catch(() => undefined);
      }
    },
    leave: () => {
      stream?.close();
      stream = undefined;
      post({ leave: self });
      membership?.abort();
      membership = undefined;
    },
  };
}
