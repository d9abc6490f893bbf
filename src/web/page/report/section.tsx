/** The report of a run: text, contents and sources. */

import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { laterConflicts } from "../../../claims/evidence.ts";
import type { CitationsView, ReportView } from "../../wire.ts";
import { fetchJson } from "../app/request.ts";
import { announce, Problem, ReloadButton, useLoad, useMedia } from "../ui/parts.tsx";
import { type CitationChecks, useCitationChecks } from "../citations/checks.ts";
import { ConflictLine, contradicted } from "../citations/panel.tsx";
import { markCitations } from "../citations/marks.ts";
import { CitationCard } from "./card.tsx";
import { ReportContents } from "./contents.tsx";
import { ReportHtml, SearchSuggestions } from "./html.tsx";
import { useJumps } from "./jumps.ts";
import { ReportSources } from "./sources.tsx";

interface ReportProps {
  taskId: string;
  /** The report arrived while the run was shown. */
  isNew: boolean;
  /** The previous scroll position, if the report was open before. */
  scroll: number | undefined;
  /** The section below the report, which may be being read. */
  below: RefObject<HTMLElement | null>;
  /** Called with the text once all of it is shown. */
  onShown: (text: Element) => void;
}

export function ReportSection({ taskId, isNew, scroll, below, onShown }: ReportProps) {
  const { report, waiting } = useReport(taskId);
  const [isComplete, setComplete] = useState(false);
  useJumps({ isLoaded: report !== undefined, isComplete, scroll });
  useStableScroll(below, report !== undefined);
  const complete = (): void => {
    setComplete(true);
    const text = document.querySelector("#report .report-text");
    if (text !== null) onShown(text);
  };
  if (report === undefined) {
    // As high as the window, so that nothing below moves when the report arrives.
    return (
      <section class={isNew ? "report" : "report loading"} aria-label="Report" aria-busy="true">
        {waiting}
      </section>
    );
  }
  return <Report report={report} isNew={isNew} onComplete={complete} />;
}

/** The report, or what is shown until it is loaded. */
export function useReport(taskId: string) {
  const { value, error, reload } = useLoad(taskId, (signal) =>
    fetchJson<ReportView>(`/api/runs/${taskId}/report`, { signal }),
  );
  const waiting =
    error === undefined ? (
      <p class="quiet">Loading the report…</p>
    ) : (
      <Problem error={error}>
        <button type="button" class="button" onClick={reload}>
          Load the report again
        </button>
      </Problem>
    );
  return { report: value, waiting };
}

/** The width at which contents and sources are beside the text. */
const WIDE = "(min-width: 64rem)";

interface LoadedReportProps {
  report: ReportView;
  isNew?: boolean;
  onComplete?: () => void;
}

export function Report({ report, isNew = false, onComplete }: LoadedReportProps) {
  const { contents, sources } = report;
  const section = useRef<HTMLElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const isWide = useMedia(WIDE);
  const [loaded, setLoaded] = useState({ revision: 0, missing: 0 });
  const completed = (missing: number): void => {
    setLoaded(({ revision }) => ({ revision: revision + 1, missing }));
    onComplete?.();
  };
  const contentsList =
    contents.length > 1 ? (
      <ReportContents
        contents={contents}
        sources={sources.length}
        isBeside={isWide}
        revision={loaded.revision}
        key="contents"
      />
    ) : null;
  const checks = useCitationChecks(report.task_id);
  useCitationMarks(body, { report, view: checks.view, revision: loaded.revision });
  const sourceList = <ReportSources sources={sources} checks={checks} key="sources" />;
  const hasSide = contents.length > 1 || sources.length > 0;
  return (
    <section class="report" aria-label="Report" id="report" tabIndex={-1} ref={section}>
      <Verification report={report} checks={checks} />
      <ConflictLine checks={checks} />
      <Remarks report={report} />
      <div class={hasSide ? "report-columns" : "report-column"}>
        {isWide ? null : contentsList}
        <div class="report-body" ref={body} key="body">
          <ReportHtml report={report} onComplete={completed} />
          {loaded.missing === 0 ? null : (
            <p class="notice warn">
              Part of this report could not be loaded. <ReloadButton />
            </p>
          )}
          <SearchSuggestions suggestions={report.suggestions} />
          <CitationCard body={body} sources={sources} checks={checks} />
        </div>
        {isWide && hasSide ? (
          <aside class="report-side" aria-label="Contents and sources">
            {contentsList}
            {sourceList}
          </aside>
        ) : (
          sourceList
        )}
      </div>
      {isNew ? <ReadyNotice section={section} /> : null}
    </section>
  );
}

interface Marked {
  report: ReportView;
  view: CitationsView | undefined;
  /** Changes when further parts of the text are shown. */
  revision: number;
}

function useCitationMarks(body: RefObject<HTMLElement | null>, { report: { sources }, view, revision }: Marked): void {
  useEffect(() => {
    if (view === undefined || body.current === null) return;
    const byNumber = new Map(sources.flatMap(({ n, also = [] }) => [n, ...also].map((shown) => [shown, n])));
    markCitations(body.current, view, (shown) => byNumber.get(shown));
  }, [sources, view, revision]);
}

/** Only deep searches are verified. */
function Verification({ report, checks: { view } }: { report: ReportView; checks: CitationChecks }) {
  const { verified, verified_in_round: round, verification } = report;
  if (verified === undefined) return null;
  const conflicts = view === undefined ? report.conflicts : contradicted(view).length;
  const later = laterConflicts(conflicts);
  const confirmed = `${later === "" ? "✓ " : ""}Verified${round === undefined ? "" : ` in round ${round}`}${later}`;
  return (
    <p class="row small">
      <span class={verified && later === "" ? "badge verification" : "badge verification unverified"}>
        {verified ? confirmed : "Not verified"}
      </span>
      {verification === undefined ? null : <span class="quiet">{verification}</span>}
    </p>
  );
}

function Remarks({ report: { partial, verified, note } }: { report: ReportView }) {
  return (
    <>
      {partial ? <p class="notice warn">Partial report – the run ended before it was finished.</p> : null}
      {verified === false ? <p class="notice warn">The last check did not confirm everything in this report.</p> : null}
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
