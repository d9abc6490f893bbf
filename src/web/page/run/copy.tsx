/** Copies text to the clipboard, even in pages without https, where browsers have no clipboard API. */

import { useEffect, useState } from "preact/hooks";
import { announce } from "../ui/parts.tsx";

type State = "idle" | "copied" | "refused";

const SHOWN_MS = 2_500;

interface Copying {
  name: string;
  text: () => Promise<string>;
  label?: string;
}

export function CopyButton({ name, text, label = "Copy" }: Copying) {
  const [state, setState] = useState<State>("idle");
  useEffect(() => {
    if (state === "idle") return undefined;
    announce(state === "copied" ? `${name} copied.` : `${name} could not be copied.`);
    const timer = setTimeout(() => setState("idle"), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = (): void => {
    copyText(text).then(
      () => setState("copied"),
      () => setState("refused"),
    );
  };
  const shown = state === "idle" ? label : state === "copied" ? "Copied ✓" : "Not copied";
  return (
    <button
      type="button"
      class="button small"
      aria-label={state === "idle" ? `${label}: ${name}` : shown}
      onClick={copy}
    >
      {shown}
    </button>
  );
}

export async function copyText(text: () => Promise<string>): Promise<void> {
  const coming = text();
  try {
    // Passes the promise itself: Safari allows only writes started within the click.
    const blob = coming.then((ready) => new Blob([ready], { type: "text/plain" }));
    await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
  } catch {
    copyBySelection(await coming);
  }
}

function copyBySelection(text: string): void {
  const field = document.createElement("textarea");
  const before = document.activeElement;
  field.value = text;
  field.className = "unseen";
  document.body.append(field);
  field.select();
  // oxlint-disable-next-line typescript/no-deprecated -- the only way where navigator.clipboard is missing
  const copied = document.execCommand("copy");
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  if (!copied) throw new Error("The browser did not copy.");
}
