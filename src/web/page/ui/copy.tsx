/** Copies text to the clipboard, even in pages without https, where browsers have no clipboard API. */

import { ResultButton } from "./result-button.tsx";

interface CopyButtonProps {
  subject: string;
  text: () => Promise<string>;
  label?: string;
}

export const CopyButton = ({ subject, text, label = "Copy" }: CopyButtonProps) => (
  <ResultButton label={label} subject={subject} act={() => copyText(text)} done="Copied ✓" failed="Not copied" />
);

async function copyText(text: () => Promise<string>): Promise<void> {
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
