/** The sources of a report, each with links to the page and to its citations. */

import type { ReportSource } from "../../wire.ts";

export function ReportSources({ sources }: { sources: ReportSource[] }) {
  if (sources.length === 0) return null;
  return (
    <section class="sources stack tight" aria-labelledby="sources">
      <h2 id="sources">Sources</h2>
      <ol>
        {sources.map((source) => (
          <Source key={source.n} source={source} />
        ))}
      </ol>
    </section>
  );
}

function Source({ source: { n, title, domain, url, cited_at } }: { source: ReportSource }) {
  return (
    <li id={`source-${n}`} value={n} tabIndex={-1}>
      {url === undefined ? (
        <span>{title}</span>
      ) : (
        <a href={url} target="_blank" rel="noopener noreferrer nofollow" referrerpolicy="no-referrer">
          {title}
          <span class="unseen"> (opens in a new tab)</span>
        </a>
      )}{" "}
      {domain === "" || domain === title ? null : <span class="quiet domain">{domain}</span>}
      {/* The URL is printed, because links do not work on paper. */}
      {url === undefined ? null : <span class="on-paper">{url}</span>}
      {cited_at.length === 0 ? null : (
        <span class="back small">
          <span class="quiet">cited at </span>
          {cited_at.map((id, index) => (
            <a key={id} id={`back-${id}`} href={`#${id}`} aria-label={`Back to citation ${index + 1} of source ${n}`}>
              ↑{index + 1}
            </a>
          ))}
        </span>
      )}
    </li>
  );
}
