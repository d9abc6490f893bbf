/** The report of a run: its text, its contents, its sources, and the ways to take it along. */

import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ReportView } from "../../wire.ts";
import { ask, fetchOwn } from "../app/request.ts";
import { announce, Problem, useLoad } from "../ui/parts.tsx";
import { ReportContents } from "./contents.tsx";
import { DownloadButton } from "./download.tsx";
import { ReportHtml, SearchSuggestions } from "./html.tsx";
import { useJumps } from "./jumps.ts";
import { ReportSources } from "./sources.tsx";
import { CopyButton } from "../run/copy.tsx";

interface ReportProps {
  taskId: string;
  /** It came while somebody was looking. */
  isNew: boolean;
  /** Where the reader was before, when the report had been open already. */
  scroll: number | undefined;
  /** What stands below it and may be being read. */
  below: RefObject<HTMLElement | null>;
}

export function ReportSection({ taskId, isNew, scroll, below }: ReportProps) {
  const { value, error, reload } = useLoad(taskId, (signal) =>
    ask<ReportView>(`/api/runs/${taskId}/report`, { signal }),
  );
  useJumps({ isThere: value !== undefined, scroll });
  useSteady(below, value !== undefined);
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
      {isNew ? <Ready section={section} /> : null}
    </section>
  );
}

function ReportTools({ taskId }: { taskId: string }) {
  const markdown = `/api/runs/${taskId}/report.md`;
  const read = async (): Promise<string> => {
    const answer = await fetchOwn(markdown);
    if (!answer.ok) throw new Error("The report could not be read.");
    return answer.text();
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
      {partial ? (
        <p class="notice warn">This report is partial: it is what was there when the run ended early.</p>
      ) : null}
      {verified === false ? <p class="notice warn">The last check did not confirm everything in this report.</p> : null}
      {verified === true ? <p class="quiet small">✓ Verified: the last round of checks confirmed it.</p> : null}
      {note === undefined ? null : <p class="notice">{note}</p>}
    </>
  );
}

/** Says that the report is there, to whoever is reading something else further down. */
function Ready({ section }: { section: RefObject<HTMLElement | null> }) {
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
 * Keeps in place what is being read below when the report appears above it. Browsers that do that themselves do not
 * where the layout changes as well, nor at the very top of a page, where somebody may have selected a text.
 */
function useSteady(below: RefObject<HTMLElement | null>, isThere: boolean): void {
  const top = below.current?.getBoundingClientRect().top;
  useLayoutEffect(() => {
    const section = below.current;
    if (!isThere || section === null || top === undefined) return;
    const isRead = scrollY > 0 || section.contains(document.activeElement) || holdsSelection(section);
    if (isRead) scrollBy({ top: section.getBoundingClientRect().top - top, behavior: "instant" });
  }, [isThere]);
}

function holdsSelection(section: HTMLElement): boolean {
  const selection = getSelection();
  return selection !== null && !selection.isCollapsed && section.contains(selection.anchorNode);
}
