/** The sources of a report, each with its page and the sentences that cite it; beside the text on wide windows. */

import { useState } from "preact/hooks";
import type { ReportSource } from "../../wire.ts";
import type { CitationChecks } from "../citations/checks.ts";
import { CitationPanel } from "../citations/panel.tsx";
import { SourceFacts } from "../citations/verdict.tsx";
import { citedSentence } from "./sentence.ts";

export function ReportSources({ sources, checks }: { sources: ReportSource[]; checks: CitationChecks }) {
  if (sources.length === 0) return null;
  return (
    <section class="sources stack tight" aria-labelledby="sources">
      <h2 id="sources">
        Sources <span class="count quiet">{sources.length}</span>
      </h2>
      <CitationPanel checks={checks} />
      <ol>
        {sources.map((source) => (
          <Source key={source.n} source={source} checks={checks} />
        ))}
      </ol>
    </section>
  );
}

const REDIRECT_HOST = "vertexaisearch.cloud.google.com";

interface SourceProps {
  source: ReportSource;
  checks: CitationChecks;
}

function Source({ source, checks }: SourceProps) {
  const { n, also = [], domain, url, cited_at: citations } = source;
  const check = checks.view?.sources.find((each) => each.n === n);
  const title = titleOf(source, checks);
  return (
    <li id={`source-${n}`} tabIndex={-1}>
      <span class="number">{[n, ...also].join(", ")}</span>
      <div>
        <span dir="auto">
          <SourceLink source={{ title, url }} />
        </span>{" "}
        {domain === "" || domain === title ? null : <span class="quiet domain">{domain}</span>}
        {/* Printed, because links do not work on paper; Google's redirect says nothing there. */}
        {url === undefined || new URL(url).hostname === REDIRECT_HOST ? null : <span class="on-paper">{url}</span>}
        {check === undefined ? null : <SourceFacts source={check} />}
        {citations.length === 0 ? null : <Citations n={n} citations={citations} />}
      </div>
    </li>
  );
}

/** A check that has just read the page knows its title. */
export function titleOf({ n, title, domain }: ReportSource, { view }: CitationChecks): string {
  const checked = view?.sources.find((each) => each.n === n)?.title ?? "";
  return title === domain && checked !== "" ? checked : title;
}

export function SourceLink({ source: { title, url } }: { source: { title: string; url?: string | undefined } }) {
  if (url === undefined) return <span>{title}</span>;
  return (
    <a href={url} target="_blank" rel="noopener noreferrer nofollow" referrerpolicy="no-referrer">
      {title}
      <span class="unseen"> (opens in a new tab)</span>
    </a>
  );
}

const MAX_LISTED = 100;

/** The sentences are read from the text when they are asked for. */
function Citations({ n, citations }: { n: number; citations: string[] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="back small" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{citations.length === 1 ? "Cited once" : `Cited ${citations.length} times`}</summary>
      {isOpen ? (
        <ul>
          {citations.slice(0, MAX_LISTED).map((id, index) => (
            <li key={id} dir="auto">
              <a id={`back-${id}`} href={`#${id}`} aria-label={`Back to citation ${index + 1} of source ${n}`}>
                {sentenceAt(id) ?? `Citation ${index + 1}`}
              </a>
            </li>
          ))}
        </ul>
      ) : null}
    </details>
  );
}

function sentenceAt(id: string): string | undefined {
  const citation = document.getElementById(id);
  return citation === null ? undefined : citedSentence(citation);
}
