/** The card within its chat client: it takes on theme, font, insets and display mode, reports its height, and passes links on. */

import type { DisplayMode, Host, HostContext } from "./host.ts";
import { focusTarget, targetOf } from "../report/jumps.ts";

/** The colours stay those of the page, whose contrast is tested; a client's own may be any. */
export function applyContext({ theme, styles, safeAreaInsets: insets, displayMode }: HostContext): void {
  const root = document.documentElement;
  if (theme !== undefined) root.dataset["theme"] = theme;
  if (displayMode !== undefined) root.dataset["mode"] = displayMode;
  const font = styles?.variables?.["--font-sans"];
  if (font !== undefined) root.style.setProperty("--letters", font);
  if (insets === undefined) return;
  const { top, right, bottom, left } = insets;
  root.style.setProperty("--insets", [top, right, bottom, left].map((side) => `${side}px`).join(" "));
}

export function reportSize(host: Host, card: Element): () => void {
  let sent = "";
  const observer = new ResizeObserver(() => {
    const { width, height } = card.getBoundingClientRect();
    const size = { width: Math.ceil(width), height: Math.ceil(height) };
    if (`${size.width} ${size.height}` === sent) return;
    sent = `${size.width} ${size.height}`;
    host.notify("ui/notifications/size-changed", size);
  });
  observer.observe(card);
  return () => observer.disconnect();
}

/** Returns the mode that the client chose. */
export async function requestMode(host: Host, mode: DisplayMode): Promise<DisplayMode> {
  const { mode: chosen } = await host.request("ui/request-display-mode", { mode });
  return chosen === "fullscreen" || chosen === "pip" ? chosen : "inline";
}

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
