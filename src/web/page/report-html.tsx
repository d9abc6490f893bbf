/** The one place where HTML enters the page: the server built it from an allow-list, and the browser asks for a name. */

import { useLayoutEffect, useRef } from "preact/hooks";

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

export function ReportHtml({ html }: { html: string }) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (place.current !== null) place.current.innerHTML = trusted(html);
  }, [html]);
  return <div class="report-text" ref={place} />;
}
