/** Downloads a file of a run, fetched with the page's secret. */

import { useState } from "preact/hooks";
import { fetchWithSecret } from "../app/request.ts";
import { announce } from "../ui/parts.tsx";

/** Long enough for a browser that asks where to save. */
const REVOKE_AFTER_MS = 60_000;

export function DownloadButton({ path, label }: { path: string; label: string }) {
  const [failed, setFailed] = useState(false);
  const download = (): void => {
    save(path).then(
      () => setFailed(false),
      () => {
        setFailed(true);
        announce(`${label} failed. Try again when the server responds.`);
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
  const response = await fetchWithSecret(path);
  if (!response.ok) throw new Error("The file could not be read.");
  // A generic type, so that the file is saved and never displayed: displayed, it would have our origin.
  const bytes = new Blob([await response.arrayBuffer()], { type: "application/octet-stream" });
  const [, name = "report"] = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "") ?? [];
  const link = document.createElement("a");
  link.href = URL.createObjectURL(bytes);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), REVOKE_AFTER_MS);
}
