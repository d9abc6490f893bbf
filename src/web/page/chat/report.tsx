/** The report in the card, with its buttons: into the model's context, and as a file. */

import type { RunLive } from "../../../operations/view/run-view.ts";
import type { ReportView } from "../../wire.ts";
import { Report } from "../report/section.tsx";
import { Problem, useLoad } from "../ui/parts.tsx";
import { HostButton } from "./actions.tsx";
import type { Host } from "./host.ts";
import type { HostTools } from "./host-tools.ts";

interface CardReportProps {
  run: RunLive;
  tools: HostTools;
  /** In the chat the report has a limited height. */
  isScrolling: boolean;
}

export function CardReport({ run: { task_id: taskId }, tools, isScrolling }: CardReportProps) {
  const { value, error, reload } = useLoad(taskId, async (): Promise<ReportView> => {
    const { report } = await tools.viewReport(taskId, "html");
    if (report === undefined) throw new Error("The report is missing in the answer.");
    return report;
  });
  if (error !== undefined && value === undefined) {
    return (
      <Problem error={error}>
        <button type="button" class="button" onClick={reload}>
          Load the report again
        </button>
      </Problem>
    );
  }
  if (value === undefined) return <p class="quiet">Loading the report…</p>;
  const report = <Report report={value} isNew={false} tools={null} onComplete={() => {}} />;
  if (!isScrolling) return report;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- without it, a keyboard could not scroll the report
    <div class="report-window" tabIndex={0} role="region" aria-label="Text of the report">
      {report}
    </div>
  );
}

/** Above the report, so that they do not scroll away with it. */
export function ReportButtons({ taskId, host, tools }: { taskId: string; host: Host; tools: HostTools }) {
  const { capabilities } = host;
  const use = async (): Promise<void> => {
    const { summary } = await tools.viewReport(taskId, "summary");
    await host.request("ui/update-model-context", { content: [{ type: "text", text: summary }] });
  };
  const download = async (): Promise<void> => {
    const { document: text, file_name: name } = await tools.viewReport(taskId, "markdown");
    const resource = { uri: `file:///${name}`, mimeType: "text/markdown", text };
    const { isError } = await host.request("ui/download-file", { contents: [{ type: "resource", resource }] });
    if (isError === true) throw new Error("The client did not save it.");
  };
  return (
    <>
      {capabilities.updateModelContext === undefined ? null : (
        <HostButton label="Use in chat" done="Added to the chat ✓" act={use} />
      )}
      {capabilities.downloadFile === undefined ? null : (
        <HostButton label="Download .md" done="Downloaded ✓" act={download} />
      )}
    </>
  );
}
