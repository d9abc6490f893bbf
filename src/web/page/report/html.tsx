/**
 * The only code that inserts HTML into the page, through a Trusted Types policy; the server has sanitized it. It adds what
 * HTML cannot do: copying code, the hint that a table scrolls, and pictures.
 */

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { render } from "preact";
import { NONCE_MARK, type ReportPart, type ReportView } from "../../wire.ts";
import { fetchJson, fetchWithSecret } from "../app/request.ts";
import { CopyButton } from "../ui/buttons.tsx";

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

interface ReportHtmlProps {
  report: Pick<ReportView, "task_id" | "html" | "more_parts">;
  /** Called once all parts are shown; `missing` of them could not be read. */
  onComplete: (missing: number) => void;
}

/** Shows the first part at once; the others follow in order, so that reading starts early. */
export function ReportHtml({ report, onComplete }: ReportHtmlProps) {
  const { task_id: taskId, html, more_parts: moreParts } = report;
  const container = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    container.current?.replaceChildren();
    appendPart(container.current, html);
  }, [html]);
  useEffect(() => {
    const unmounting = new AbortController();
    const { signal } = unmounting;
    const sizes = observeOverflow();
    for (const part of container.current?.children ?? []) enhance(part, sizes);
    const loadRest = async (): Promise<void> => {
      let shown = 0;
      for (; shown < moreParts; shown += 1) {
        const path = `/api/runs/${taskId}/report/parts/${shown + 1}`;
        const part = await fetchJson<ReportPart>(path, { signal }).catch(() => undefined);
        if (signal.aborted) return;
        if (part === undefined) break;
        enhance(appendPart(container.current, part.html), sizes);
      }
      onComplete(moreParts - shown);
      if (container.current !== null) await loadPictures(container.current, taskId, signal);
    };
    void loadRest();
    return () => {
      unmounting.abort();
      sizes.disconnect();
    };
  }, [html, moreParts]);
  return <div class="report-text" ref={container} />;
}

function appendPart(container: HTMLElement | null, html: string): HTMLElement {
  const part = document.createElement("div");
  part.className = "part";
  part.innerHTML = trusted(html);
  container?.append(part);
  return part;
}

interface SuggestionsProps {
  suggestions: ReportView["suggestions"] | undefined;
  /** Of the heading, unique in the page. */
  id?: string;
}

/** Google's terms require its own markup. */
export function SearchSuggestions({ suggestions, id = "suggestions" }: SuggestionsProps) {
  if (suggestions === undefined) return null;
  return (
    <section class="suggestions" aria-labelledby={id}>
      <h2 id={id}>Search Suggestions</h2>
      {"html" in suggestions ? <SuggestionRoot html={suggestions.html} /> : <SuggestionFrame {...suggestions} />}
    </section>
  );
}

/**
 * For the card: its client shows it in a frame without popups, so a link in a further frame would open nothing. Google's
 * styles stay in the shadow root; the element around it clips what they might place elsewhere.
 */
function SuggestionRoot({ html }: { html: string }) {
  const host = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (host.current === null) return;
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open" });
    root.innerHTML = trusted(html);
  }, [html]);
  return (
    <div class="suggestion-box">
      <div ref={host} />
    </div>
  );
}

/** The frame runs no scripts and loads nothing. */
function SuggestionFrame({ frame: content, height }: { frame: string; height: number }) {
  const frame = useRef<HTMLIFrameElement>(null);
  useLayoutEffect(() => {
    // The styles in the frame need the nonce of the page.
    const nonce = document.querySelector<HTMLScriptElement>("script[nonce]")?.nonce ?? "";
    if (frame.current !== null) frame.current.srcdoc = trusted(content.replaceAll(NONCE_MARK, nonce));
  }, [content]);
  return (
    <iframe
      ref={frame}
      title="Google Search Suggestions"
      sandbox="allow-popups allow-popups-to-escape-sandbox"
      height={height}
    />
  );
}

const observeOverflow = (): ResizeObserver =>
  new ResizeObserver((changes) => {
    for (const { target } of changes) markOverflow(target instanceof HTMLTableElement ? target.parentElement : target);
  });

function enhance(part: Element, sizes: ResizeObserver): void {
  for (const code of part.querySelectorAll(".code")) addCopyButton(code);
  for (const table of part.querySelectorAll(".table")) {
    sizes.observe(table);
    if (table.firstElementChild !== null) sizes.observe(table.firstElementChild);
    table.addEventListener("scroll", () => markOverflow(table), { passive: true });
  }
}

/** `data-more` says whether columns are hidden: at the start, at the end, or both. */
function markOverflow(table: Element | null): void {
  if (table === null) return;
  const hidden = table.scrollWidth - table.clientWidth;
  // Negative in tables that run from right to left.
  const passed = Math.abs(table.scrollLeft);
  const more = [passed > 1 ? "start" : "", passed < hidden - 1 ? "end" : ""].filter((side) => side !== "");
  if (hidden <= 1) table.removeAttribute("data-more");
  else table.setAttribute("data-more", more.join(" "));
}

function addCopyButton(code: Element): void {
  const holder = document.createElement("span");
  const text = (): Promise<string> => Promise.resolve(code.querySelector("pre")?.textContent ?? "");
  render(<CopyButton subject="code" text={text} />, holder);
  code.append(holder);
}

/** By script, because an image URL in HTML could not carry the page's secret. */
async function loadPictures(report: HTMLElement, taskId: string, signal: AbortSignal): Promise<void> {
  for (const image of report.querySelectorAll<HTMLImageElement>("img[data-picture]")) {
    const path = `/api/runs/${taskId}/pictures/${image.dataset["picture"]}`;
    const response = await fetchWithSecret(path, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    // If it fails, the alternative text is shown.
    if (response?.ok === true) image.src = await dataUrl(await response.blob());
  }
}

/** The page's policy allows only data URLs for images. */
const dataUrl = (blob: Blob): Promise<string> =>
  new Promise((resolve) => {
    const reader = new FileReader();
    reader.addEventListener("loadend", () => resolve(typeof reader.result === "string" ? reader.result : ""));
    reader.readAsDataURL(blob);
  });
