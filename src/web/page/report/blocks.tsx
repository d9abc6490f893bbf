/** Adds what HTML cannot do to the blocks of a report: copying code, the hint that a table scrolls, and pictures. */

import { render } from "preact";
import { fetchWithSecret } from "../app/request.ts";
import { CopyButton } from "../ui/copy.tsx";

/** Also for parts that are added later. Returns how to stop. */
export function enhanceBlocks(report: HTMLElement | null): () => void {
  if (report === null) return () => {};
  const sizes = new ResizeObserver((changes) => {
    for (const { target } of changes) markOverflow(target instanceof HTMLTableElement ? target.parentElement : target);
  });
  const enhance = (part: Element): void => {
    for (const code of part.querySelectorAll(".code")) addCopyButton(code);
    for (const table of part.querySelectorAll(".table")) {
      sizes.observe(table);
      if (table.firstElementChild !== null) sizes.observe(table.firstElementChild);
      table.addEventListener("scroll", () => markOverflow(table), { passive: true });
    }
  };
  const parts = new MutationObserver((changes) => {
    for (const { addedNodes } of changes) for (const node of addedNodes) if (node instanceof Element) enhance(node);
  });
  for (const part of report.children) enhance(part);
  parts.observe(report, { childList: true });
  return () => {
    sizes.disconnect();
    parts.disconnect();
  };
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
export async function loadPictures(report: HTMLElement, taskId: string, signal: AbortSignal): Promise<void> {
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
