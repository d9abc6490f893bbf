/** Adds what HTML cannot do to the blocks of a report: copying code, and the hint that a table scrolls. */

import { copyText } from "../run/copy.tsx";
import { announce } from "../ui/parts.tsx";

const COPIED_MS = 2_500;

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
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button small";
  button.textContent = "Copy";
  button.setAttribute("aria-label", "Copy code");
  let timer: ReturnType<typeof setTimeout> | undefined;
  const show = (result: string): void => {
    announce(`${result}.`);
    button.textContent = result;
    clearTimeout(timer);
    timer = setTimeout(() => (button.textContent = "Copy"), COPIED_MS);
  };
  button.addEventListener("click", () => {
    copyText(() => Promise.resolve(code.querySelector("pre")?.textContent ?? "")).then(
      () => show("Copied"),
      () => show("Not copied"),
    );
  });
  code.append(button);
}
