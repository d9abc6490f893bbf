/** The table of contents: beside the report on wide screens, collapsed above it on narrow ones. */

import { useEffect, useState } from "preact/hooks";
import type { ReportView } from "../../wire.ts";

type Contents = ReportView["contents"];

const WIDE = "(min-width: 64rem)";

export function ReportContents({ contents, sources }: { contents: Contents; sources: number }) {
  const top = Math.min(...contents.map(({ level }) => level));
  const all = sources === 0 ? contents : [...contents, { id: "sources", title: `Sources (${sources})`, level: top }];
  const current = useCurrentSection(all);
  const [open, setOpen] = useState(() => matchMedia(WIDE).matches);
  useEffect(() => {
    const media = matchMedia(WIDE);
    const change = (): void => setOpen(media.matches);
    media.addEventListener("change", change);
    return () => media.removeEventListener("change", change);
  }, []);
  return (
    <nav class="contents" aria-label="Contents of the report">
      <details open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>Contents</summary>
        <ul>
          {all.map(({ id, title, level }) => (
            <li key={id} data-level={Math.min(level - top, 3)}>
              <a href={`#${id}`} aria-current={id === (current ?? all[0]?.id) ? "location" : undefined}>
                {title}
              </a>
            </li>
          ))}
        </ul>
      </details>
    </nav>
  );
}

/**
 * Everything above the upper third counts as seen, however far above, so that a jump over many headings is detected.
 */
const SEEN = "10000000px 0px -66% 0px";

function useCurrentSection(contents: Contents): string | undefined {
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
      { rootMargin: SEEN },
    );
    for (const id of ids.split(" ")) {
      const heading = id === "" ? null : document.getElementById(id);
      if (heading !== null) observer.observe(heading);
    }
    return () => observer.disconnect();
  }, [ids]);
  return current;
}
