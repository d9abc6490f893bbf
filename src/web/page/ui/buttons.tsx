/** Buttons that show for a moment how their action ended, which screen readers announce; and those that copy and download. */

import { useEffect, useState } from "preact/hooks";
import { announce } from "./parts.tsx";
import { fetchWithSecret } from "../app/request.ts";

const SHOWN_MS = 3_000;

interface ResultButtonProps {
  label: string;
  /** What it acts on, where the label alone leaves that open. */
  subject?: string;
  act: () => Promise<unknown>;
  /** Shown after it worked; without it the label stays. */
  done?: string;
  failed?: string;
}

export function ResultButton({ label, subject, act, done, failed = `${label}: try again` }: ResultButtonProps) {
  const [result, setResult] = useState<string>();
  useEffect(() => {
    if (result === undefined) return undefined;
    announce(subject === undefined ? result : `${result}: ${subject}`);
    const timer = setTimeout(() => setResult(undefined), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [result]);
  const click = (): void => {
    act().then(
      () => setResult(done),
      () => setResult(failed),
    );
  };
  const name = subject === undefined ? undefined : `${label} ${subject}`;
  return (
    <button type="button" class="button small" aria-label={result ?? name} onClick={click}>
      {result ?? label}
    </button>
  );
}

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

/** Long enough for a browser that asks where to save. */
const REVOKE_AFTER_MS = 60_000;

export const DownloadButton = ({ path, label }: { path: string; label: string }) => (
  <ResultButton label={label} act={() => saveFile(path)} />
);

export const TableDownloads = ({ taskId }: { taskId: string }) => (
  <>
    <DownloadButton path={`/api/runs/${taskId}/table.csv`} label="Download .csv" />
    <DownloadButton path={`/api/runs/${taskId}/table.json`} label="Download .json" />
  </>
);

export async function saveFile(path: string): Promise<void> {
  const response = await fetchWithSecret(path);
  if (!response.ok) throw new Error("The file could not be read.");
  // A generic type, so that the file is saved and never displayed: displayed, it would have our origin.
  const bytes = new Blob([await response.arrayBuffer()], { type: "application/octet-stream" });
  const [, name = "report"] = /filename\*=UTF-8''(\S+)/.exec(response.headers.get("content-disposition") ?? "") ?? [];
  const link = document.createElement("a");
  link.href = URL.createObjectURL(bytes);
  link.download = decodeURIComponent(name);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), REVOKE_AFTER_MS);
}
