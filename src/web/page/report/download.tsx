/** A file of a run, fetched with the page's secret and handed to the browser to save. */

import { useState } from "preact/hooks";
import { fetchOwn } from "../app/request.ts";
import { announce } from "../ui/parts.tsx";

/** Long enough for a browser that asks first where to save. */
const KEPT_MS = 60_000;

export function DownloadButton({ path, label }: { path: string; label: string }) {
  const [failed, setFailed] = useState(false);
  const download = (): void => {
    save(path).then(
      () => setFailed(false),
      () => {
        setFailed(true);
        announce(`${label} did not work. Try again when the server answers.`);
      },
    );
  };
  return (
    <button type="button" class="button small" onClick={download}>
      {failed ? `${label}: try again` : label}
    </button>
  );
}

async function save(path: string): Promise<void> {
  const response = await fetchOwn(path);
  if (!response.ok) throw new Error("The file could not be read.");
  // Without a type of its own it is saved and never shown: shown, it would be of our origin.
  const bytes = new Blob([await response.arrayBuffer()], { type: "application/octet-stream" });
  const [, name = "report"] = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "") ?? [];
  const link = document.createElement("a");
  link.href = URL.createObjectURL(bytes);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS);
}
