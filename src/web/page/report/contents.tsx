/** The table of contents, which follows the reading position. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { ReportView } from "../../wire.ts";

type Contents = ReportView["contents"];

interface ContentsProps {
  contents: Contents;
  sources: number;
  /** Beside the text: always open, and the sources are in sight. */
  isBeside: boolean;
  /** How many times parts were added to the text. */
  revision: number;
}

export function ReportContents({ contents, sources, isBeside, revision }: ContentsProps) {
  const top = Math.min(...contents.map(({ level }) => level));
  const isListed = sources > 0 && !isBeside;
  const all = isListed ? [...contents, { id: "sources", title: `Sources (${sources})`, level: top }] : contents;
  const current = useCurrentSection(all, revision);
  const marked = current ?? all[0]?.id;
  const list = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (list.current !== null) keepInSight(list.current);
  }, [marked]);
  return (
    <nav class="contents" aria-label="Contents of the report">
      <details open={isBeside} ref={list}>
        <summary>Contents</summary>
        <ul>
          {all.map(({ id, title, level }) => (
            <li key={id} data-level={Math.min(level - top, 3)}>
              <a href={`#${id}`} dir="auto" aria-current={id === marked ? "location" : undefined}>
                {title}
              </a>
            </li>
          ))}
        </ul>
      </details>
    </nav>
  );
}

/** Scrolls the list only, never the page. */
function keepInSight(list: HTMLElement): void {
  const link = list.querySelector("[aria-current]");
  const scroller = list.closest<HTMLElement>(".contents");
  if (link === null || scroller === null || scroller.scrollHeight <= scroller.clientHeight) return;
  const { top, bottom } = link.getBoundingClientRect();
  const frame = scroller.getBoundingClientRect();
  const margin = frame.height / 4;
  if (top < frame.top + margin || bottom > frame.bottom - margin) {
    scroller.scrollTop += (top + bottom) / 2 - (frame.top + frame.bottom) / 2;
  }
}

/**
 * Everything above the upper third counts as seen, however far above, so that a jump over many headings is detected.
 */
const SEEN = "10000000px 0px -66% 0px";

function useCurrentSection(contents: Contents, revision: number): string | undefined {
  const [current, setCurrent] = useState<string | undefined>(undefined);
  const ids = contents.map(({ id }) => id).join(" ");
  useEffect(() => {
    const seen = new Set<string>();
    const observer = new IntersectionObserver(
      (changes) => {
        for (const { target, isIntersecting } of changes) {
          if (isIntersecting) seen.add(target.id);
          else seen.delete(target.id);
        }
        setCurrent(ids.split(" ").findLast((id) => seen.has(id)));
      },
      // Of this document: a frame of another origin has no margins of the window.
      { root: document, rootMargin: SEEN },
    );
    for (const id of ids.split(" ")) {
      const heading = id === "" ? null : document.getElementById(id);
      if (heading !== null) observer.observe(heading);
    }
    return () => observer.disconnect();
  }, [ids, revision]);
  return current;
}
