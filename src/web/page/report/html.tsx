/** The only code that inserts HTML into the page, through a Trusted Types policy; the server has sanitized it. */

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { NONCE_MARK, type ReportView } from "../../wire.ts";
import { loadPictures } from "./pictures.ts";

interface Policy {
  createHTML: (html: string) => string;
}

declare global {
  interface Window {
    trustedTypes?: { createPolicy: (name: string, policy: Policy) => Policy };
  }
}

let policy: Policy | undefined;

/** Created once, on first use: a policy name can be used only once. */
function trusted(html: string): string {
  const unchanged: Policy = { createHTML: (text) => text };
  policy ??= globalThis.window.trustedTypes?.createPolicy("report", unchanged) ?? unchanged;
  return policy.createHTML(html);
}

export function ReportHtml({ taskId, html }: { taskId: string; html: string }) {
  const container = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (container.current !== null) container.current.innerHTML = trusted(html);
  }, [html]);
  useEffect(() => {
    const unmounting = new AbortController();
    if (container.current !== null) void loadPictures(container.current, taskId, unmounting.signal);
    return () => unmounting.abort();
  }, [html]);
  return <div class="report-text" ref={container} />;
}

/** Google's terms require its own markup; the frame runs no scripts and loads nothing. */
export function SearchSuggestions({ suggestions }: { suggestions: ReportView["suggestions"] | undefined }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const content = suggestions?.frame;
  useLayoutEffect(() => {
    // The styles in the frame need the nonce of the page.
    const nonce = document.querySelector<HTMLScriptElement>("script[nonce]")?.nonce ?? "";
    if (frame.current !== null && content !== undefined) {
      frame.current.srcdoc = trusted(content.replaceAll(NONCE_MARK, nonce));
    }
  }, [content]);
  if (suggestions === undefined) return null;
  return (
    <section class="suggestions" aria-labelledby="suggestions">
      <h2 id="suggestions">Search Suggestions</h2>
      <iframe
        ref={frame}
        title="Google Search Suggestions"
        sandbox="allow-popups allow-popups-to-escape-sandbox"
        height={suggestions.height}
      />
    </section>
  );
}
