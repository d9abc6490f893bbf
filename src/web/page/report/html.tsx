/** The one place where HTML enters the page: the server built it from an allow-list, and the browser asks for a name. */

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

/** Made at first use, and once: the policy's name may be taken only one time. */
function trusted(html: string): string {
  const asItIs: Policy = { createHTML: (text) => text };
  policy ??= globalThis.window.trustedTypes?.createPolicy("report", asItIs) ?? asItIs;
  return policy.createHTML(html);
}

export function ReportHtml({ taskId, html }: { taskId: string; html: string }) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (place.current !== null) place.current.innerHTML = trusted(html);
  }, [html]);
  useEffect(() => {
    const leaving = new AbortController();
    if (place.current !== null) void loadPictures(place.current, taskId, leaving.signal);
    return () => leaving.abort();
  }, [html]);
  return <div class="report-text" ref={place} />;
}

/** As Google's terms ask for: its own markup, in a frame that runs nothing and loads nothing. */
export function SearchSuggestions({ suggestions }: { suggestions: ReportView["suggestions"] | undefined }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const content = suggestions?.frame;
  useLayoutEffect(() => {
    // The page was opened with a nonce, which its styles need as well.
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
