/** What can be taken from a report: its text, its files, and paper. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { RunLive } from "../../../operations/view/run-view.ts";
import { fetchWithSecret } from "../app/request.ts";
import { CopyButton, DownloadButton, TableDownloads } from "../ui/buttons.tsx";
import { Check } from "../ui/forms.tsx";
import { Menu } from "../ui/menu.tsx";

export function ReportExport({ run: { task_id: taskId, is_table: isTable } }: { run: RunLive }) {
  const [additions, setAdditions] = useState<readonly string[]>([]);
  const [hasFigures, setFigures] = useState(true);
  const wanted = new URLSearchParams({
    ...(additions.length === 0 ? {} : { with: additions.join(",") }),
    ...(hasFigures ? {} : { metadata: "0" }),
  });
  const read = async (): Promise<string> => {
    const response = await fetchWithSecret(`/api/runs/${taskId}/report.md`);
    if (!response.ok) throw new Error("The report could not be read.");
    return response.text();
  };
  return (
    <>
      <CopyButton subject="the report as Markdown" text={read} />
      <Menu label="Download">
        <Parts chosen={additions} choose={setAdditions}>
          <Check checked={hasFigures} onChange={setFigures}>
            About this report: question, dates, model, cost
          </Check>
        </Parts>
        {REPORT_FILES.map((ending) => (
          <DownloadButton
            key={ending}
            path={`/api/runs/${taskId}/report.${ending}?${wanted}`}
            label={`Download .${ending}`}
          />
        ))}
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

const REPORT_FILES = ["md", "html", "docx"] as const;

const SOURCE_FILES = [
  ["bib", "BibTeX"],
  ["ris", "RIS"],
  ["json", "CSL-JSON"],
] as const;

const ADDITIONS = [
  ["verdicts", "Verdicts on citations"],
  ["followups", "Follow-ups"],
  ["tables", "Tables"],
] as const;

interface PartsProps {
  chosen: readonly string[];
  choose: (chosen: readonly string[]) => void;
  children: ComponentChildren;
}

/** What the three files have after the report. */
const Parts = ({ chosen, choose, children }: PartsProps) => (
  <fieldset class="stack tight small">
    <legend class="quiet">After the report</legend>
    {ADDITIONS.map(([name, label]) => (
      <Check
        key={name}
        checked={chosen.includes(name)}
        onChange={(checked) => choose(checked ? [...chosen, name] : chosen.filter((one) => one !== name))}
      >
        {label}
      </Check>
    ))}
    {children}
  </fieldset>
);
