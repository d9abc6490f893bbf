/** Links of the card: addresses are opened by the chat client, jumps stay within the card and its history. */

import { focusTarget, targetOf } from "../report/jumps.ts";
import type { Host } from "./host.ts";

export function followCardLinks({ request, capabilities }: Host, signal: AbortSignal): void {
  const follow = (event: MouseEvent): void => {
    // A tap on a citation shows its card.
    if (event.defaultPrevented) return;
    // The first of the path is inside the shadow root of Search Suggestions, where `target` is only its host.
    const [clicked] = event.composedPath();
    const link = clicked instanceof Element ? clicked.closest<HTMLAnchorElement>("a[href]") : null;
    const href = link?.getAttribute("href") ?? "";
    if (href.startsWith("#")) {
      event.preventDefault();
      const target = targetOf(href);
      if (target !== null) focusTarget(target, { scroll: true });
    } else if (/^https?:/i.test(href) && capabilities.openLinks !== undefined) {
      event.preventDefault();
      request("ui/open-link", { url: href }).catch(() => undefined);
    }
  };
  document.addEventListener("click", follow, { signal });
}
