/** Downloads a file of a run, fetched with the page's secret. */

import { fetchWithSecret } from "../app/request.ts";
import { ResultButton } from "../ui/result-button.tsx";

/** Long enough for a browser that asks where to save. */
const REVOKE_AFTER_MS = 60_000;

export const DownloadButton = ({ path, label }: { path: string; label: string }) => (
  <ResultButton label={label} act={() => save(path)} />
);

export const TableDownloads = ({ taskId }: { taskId: string }) => (
  <>
    <DownloadButton path={`/api/runs/${taskId}/table.csv`} label="Download .csv" />
    <DownloadButton path={`/api/runs/${taskId}/table.json`} label="Download .json" />
  </>
);

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
