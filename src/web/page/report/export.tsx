/** What can be taken from a report: its text, its files, and paper. */

import type { RunLive } from "../../../operations/view/run-view.ts";
import { fetchWithSecret } from "../app/request.ts";
import { CopyButton, DownloadButton, TableDownloads } from "../ui/buttons.tsx";
import { Menu } from "../ui/menu.tsx";

export function ReportExport({ run: { task_id: taskId, is_table: isTable } }: { run: RunLive }) {
  const markdown = `/api/runs/${taskId}/report.md`;
  const read = async (): Promise<string> => {
    const response = await fetchWithSecret(markdown);
    if (!response.ok) throw new Error("The report could not be read.");
    return response.text();
  };
  return (
    <>
      <CopyButton subject="the report as Markdown" text={read} />
      <Menu label="Download">
        <DownloadButton path={markdown} label="Download .md" />
        <DownloadButton path={`/api/runs/${taskId}/report.html`} label="Download .html" />
        <DownloadButton path={`/api/runs/${taskId}/report.docx`} label="Download .docx" />
        <button type="button" class="button" onClick={() => print()}>
          Print / PDF
        </button>
        {isTable === true ? <TableDownloads taskId={taskId} /> : null}
        <p class="quiet small">Sources for reference managers</p>
        {SOURCE_FILES.map(([ending, label]) => (
          <DownloadButton key={ending} path={`/api/runs/${taskId}/sources.${ending}`} label={label} />
        ))}
      </Menu>
    </>
  );
}

const SOURCE_FILES = [
  ["bib", "BibTeX"],
  ["ris", "RIS"],
  ["json", "CSL-JSON"],
] as const;
