/** The report of a run: text, contents, sources, and downloads. */

import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ReportView } from "../../wire.ts";
import { fetchJson, fetchWithSecret } from "../app/request.ts";
import { announce, Problem, useLoad } from "../ui/parts.tsx";
import { ReportContents } from "./contents.tsx";
import { DownloadButton } from "./download.tsx";
import { ReportHtml, SearchSuggestions } from "./html.tsx";
import { useJumps } from "./jumps.ts";
import { ReportSources } from "./sources.tsx";
import { CopyButton } from "../run/copy.tsx";

interface ReportProps {
  taskId: string;
  /** The report arrived while the run was shown. */
  isNew: boolean;
  /** The previous scroll position, if the report was open before. */
  scroll: number | undefined;
  /** The section below the report, which may be being read. */
  below: RefObject<HTMLElement | null>;
}

export function ReportSection({ taskId, isNew, scroll, below }: ReportProps) {
  const { value, error, reload } = useLoad(taskId, (signal) =>
    fetchJson<ReportView>(`/api/runs/${taskId}/report`, { signal }),
  );
  useJumps({ isLoaded: value !== undefined, scroll });
  useStableScroll(below, value !== undefined);
  if (value !== undefined) return <Report report={value} isNew={isNew} />;
  if (error === undefined) return <p class="quiet">Loading the report…</p>;
  return (
    <Problem error={error}>
      <button type="button" class="button" onClick={reload}>
        Load the report again
      </button>
    </Problem>
  );
}

function Report({ report, isNew }: { report: ReportView; isNew: boolean }) {
  const { contents, sources } = report;
  const section = useRef<HTMLElement>(null);
  return (
    <section class="report" aria-label="Report" id="report" tabIndex={-1} ref={section}>
      <p class="on-paper report-title">{report.title}</p>
      <ReportTools taskId={report.task_id} />
      <Remarks report={report} />
      <div class={contents.length > 1 ? "report-columns" : "report-column"}>
        {contents.length > 1 ? <ReportContents contents={contents} sources={sources.length} /> : null}
        <div class="report-body">
          <ReportHtml taskId={report.task_id} html={report.html} />
          <SearchSuggestions suggestions={report.suggestions} />
          <ReportSources sources={sources} />
        </div>
      </div>
      {isNew ? <ReadyNotice section={section} /> : null}
    </section>
  );
}

function ReportTools({ taskId }: { taskId: string }) {
  const markdown = `/api/runs/${taskId}/report.md`;
  const read = async (): Promise<string> => {
    const response = await fetchWithSecret(markdown);
    if (!response.ok) throw new Error("The report could not be read.");
    return response.text();
  };
  return (
    <div class="row report-tools">
      <CopyButton name="report" label="Copy Markdown" text={read} />
      <DownloadButton path={markdown} label="Download .md" />
      <DownloadButton path={`/api/runs/${taskId}/report.html`} label="Download .html" />
      <button type="button" class="button small" onClick={() => print()}>
        Print / PDF
      </button>
    </div>
  );
}

function Remarks({ report: { partial, verified, note } }: { report: ReportView }) {
  return (
    <>
      {partial ? <p class="notice warn">This report is partial: the run ended early.</p> : null}
      {verified === false ? <p class="notice warn">The last check did not confirm everything in this report.</p> : null}
      {verified === true ? <p class="quiet small">✓ Verified: the last round of checks confirmed it.</p> : null}
      {note === undefined ? null : <p class="notice">{note}</p>}
    </>
  );
}

/** Announces the report to a reader further down. */
function ReadyNotice({ section }: { section: RefObject<HTMLElement | null> }) {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    announce("The report is ready.");
    const observer = new IntersectionObserver((changes) => {
      if (changes.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
    });
    if (section.current !== null) observer.observe(section.current);
    return () => observer.disconnect();
  }, []);
  if (isSeen) return null;
  return (
    <div class="ready row">
      <span>The report is ready.</span>
      <a class="button small primary" href="#report">
        Read it
      </a>
    </div>
  );
}

/**
 * Keeps the section below in place when the report appears above it. Browsers do that themselves, except when the
 * layout changes as well or at the top of the page, where a text may be selected.
 */
function useStableScroll(below: RefObject<HTMLElement | null>, isLoaded: boolean): void {
  const top = below.current?.getBoundingClientRect().top;
  useLayoutEffect(() => {
    const section = below.current;
    if (!isLoaded || section === null || top === undefined) return;
    const isRead = scrollY > 0 || section.contains(document.activeElement) || holdsSelection(section);
    if (isRead) scrollBy({ top: section.getBoundingClientRect().top - top, behavior: "instant" });
  }, [isLoaded]);
}

function holdsSelection(section: HTMLElement): boolean {
  const selection = getSelection();
  return selection !== null && !selection.isCollapsed && section.contains(selection.anchorNode);
}
