/**
 * A card beside the citation that is pointed at, focused or tapped: title and domain of the source, and the sentence
 * that cites it. It stays while the pointer is on it, and Escape closes it (WCAG 1.4.13).
 */

import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ReportSource } from "../../wire.ts";
import { citedSentence } from "./sentence.ts";
import { SourceLink } from "./sources.tsx";

const CARD_ID = "citation-card";
/** A pointer that only passes opens nothing. */
const OPEN_AFTER_MS = 150;
/** Enough to reach the card. */
const CLOSE_AFTER_MS = 250;
const GAP_PX = 6;

interface Shown {
  citation: HTMLAnchorElement;
  source: ReportSource;
  number: string;
  sentence: string | undefined;
}

export function CitationCard({ body, sources }: { body: RefObject<HTMLElement | null>; sources: ReportSource[] }) {
  const [shown, setShown] = useState<Shown | undefined>(undefined);
  const card = useRef<HTMLDivElement>(null);
  useCitationEvents({ body, card, sources, setShown });
  useLayoutEffect(() => {
    if (shown === undefined || card.current === null || body.current === null) return undefined;
    place(card.current, shown.citation, body.current);
    shown.citation.setAttribute("aria-describedby", CARD_ID);
    return () => shown.citation.removeAttribute("aria-describedby");
  }, [shown]);
  if (shown === undefined) return null;
  const { source, number, sentence } = shown;
  return (
    <div class="citation-card" id={CARD_ID} ref={card} role="group" aria-label={`Source ${number}`}>
      <p class="card-title" dir="auto">
        <span class="number">{number}</span> <SourceLink source={source} />
      </p>
      {source.domain === "" || source.domain === source.title ? null : <p class="quiet small">{source.domain}</p>}
      {sentence === undefined ? null : (
        <blockquote dir="auto">
          <span class="unseen">Cited for: </span>
          {sentence}
        </blockquote>
      )}
      <p class="small">
        <a href={`#source-${source.n}`}>Show in sources</a>
      </p>
    </div>
  );
}

/** Below the citation, or above it where there is no room; never outside of the text column. */
function place(card: HTMLElement, citation: Element, body: HTMLElement): void {
  const at = citation.getBoundingClientRect();
  const within = body.getBoundingClientRect();
  const { width, height } = card.getBoundingClientRect();
  const isAbove = at.bottom + GAP_PX + height > innerHeight && at.top - GAP_PX - height > 0;
  const top = isAbove ? at.top - GAP_PX - height : at.bottom + GAP_PX;
  const left = Math.max(within.left, Math.min(at.left - 16, Math.max(within.left, within.right - width)));
  card.style.top = `${top - within.top}px`;
  card.style.left = `${left - within.left}px`;
}

interface CitationEvents {
  body: RefObject<HTMLElement | null>;
  card: RefObject<HTMLElement | null>;
  sources: ReportSource[];
  setShown: (shown: Shown | undefined) => void;
}

const citationOf = (target: EventTarget | null): HTMLAnchorElement | null =>
  target instanceof Element ? target.closest<HTMLAnchorElement>(".cite a") : null;

function useCitationEvents({ body, card, sources, setShown }: CitationEvents): void {
  useEffect(() => {
    const ending = new AbortController();
    const { signal } = ending;
    const byNumber = new Map(sources.flatMap((source) => [source.n, ...(source.also ?? [])].map((n) => [n, source])));
    let timer: ReturnType<typeof setTimeout> | undefined;
    let open: HTMLAnchorElement | undefined;
    let isTouched = false;
    const show = (citation: HTMLAnchorElement | undefined): void => {
      clearTimeout(timer);
      if (citation === open) return;
      open = citation;
      const [number = ""] = /\d+/.exec(citation?.textContent ?? "") ?? [];
      const source = byNumber.get(Number(number));
      if (citation === undefined || source === undefined) setShown(undefined);
      else setShown({ citation, source, number, sentence: citedSentence(citation) });
    };
    const later = (citation: HTMLAnchorElement | undefined, ms: number): void => {
      clearTimeout(timer);
      timer = setTimeout(() => show(citation), ms);
    };
    const isOnCard = (target: EventTarget | null): boolean =>
      target instanceof Node && card.current?.contains(target) === true;
    const listen = <Name extends keyof DocumentEventMap>(
      name: Name,
      handle: (event: DocumentEventMap[Name]) => void,
    ): void => document.addEventListener(name, handle, { signal });
    listen("pointerover", ({ target, pointerType }) => {
      if (pointerType === "touch") return;
      const citation = citationOf(target);
      if (citation !== null && body.current?.contains(citation) === true) later(citation, OPEN_AFTER_MS);
      else if (isOnCard(target)) clearTimeout(timer);
      else if (open !== document.activeElement) later(undefined, CLOSE_AFTER_MS);
    });
    listen("pointerdown", ({ target, pointerType }) => {
      isTouched = pointerType === "touch";
      if (citationOf(target) === null && !isOnCard(target)) show(undefined);
    });
    listen("focusin", ({ target }) => {
      const citation = citationOf(target);
      // A tap opens the card by its click; after a jump back the card would cover the text.
      if (citation !== null && !isTouched && citation.matches(":focus-visible")) show(citation);
      else if (!isOnCard(target) && citation !== open) show(undefined);
    });
    body.current?.addEventListener(
      "click",
      (event) => {
        const citation = citationOf(event.target);
        if (citation === null) return;
        // The first tap shows the card, which leads on; a click follows the link.
        const isFirstTap = isTouched && citation !== open;
        show(isFirstTap ? citation : undefined);
        if (isFirstTap) event.preventDefault();
      },
      { signal },
    );
    document.addEventListener(
      "keydown",
      (event) => {
        if (event.key !== "Escape" || open === undefined) return;
        if (isOnCard(document.activeElement)) open.focus();
        show(undefined);
        event.stopPropagation();
      },
      { signal, capture: true },
    );
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [sources]);
}
