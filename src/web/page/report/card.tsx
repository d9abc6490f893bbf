/**
 * A card beside the citation that is pointed at, focused or tapped: title and domain of the source, and what the page
 * says about the sentence, once it was checked. It stays while the pointer is on it, and Escape closes it (WCAG 1.4.13).
 */

import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ReportSource } from "../../wire.ts";
import type { CitationChecks } from "../citations/checks.ts";
import { pairFor } from "../citations/marks.ts";
import { PairDetails } from "../citations/verdict.tsx";
import { type CitedPlace, citedPlace } from "./sentence.ts";
import { SourceLink, titleOf } from "./sources.tsx";

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
  cited: CitedPlace;
}

interface CardProps {
  body: RefObject<HTMLElement | null>;
  sources: ReportSource[];
  checks: CitationChecks;
}

export function CitationCard({ body, sources, checks }: CardProps) {
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
  const { source, number, cited } = shown;
  const title = titleOf(source, checks);
  return (
    <div class="citation-card" id={CARD_ID} ref={card} role="group" aria-label={`Source ${number}`}>
      <p class="card-title" dir="auto">
        <span class="number">{number}</span> <SourceLink source={{ title, url: source.url }} />
      </p>
      {source.domain === "" || source.domain === title ? null : <p class="quiet small">{source.domain}</p>}
      <CheckedCitation source={source} cited={cited} checks={checks} />
      <p class="small">
        <a href={`#source-${source.n}`}>Show in sources</a>
      </p>
    </div>
  );
}

/** What the page says about the sentence. */
function CheckedCitation({ source, cited, checks }: Pick<Shown, "source" | "cited"> & Pick<CardProps, "checks">) {
  const { view } = checks;
  if (view === undefined) return null;
  const found = pairFor(view, source.n, cited);
  return found === undefined || found.pair.verdict === "not_checked" ? null : <PairDetails pair={found.pair} />;
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
  // Before the first paint: a citation that can be seen can be tapped.
  useLayoutEffect(() => {
    const ending = new AbortController();
    const control = createControl(sources, setShown);
    const isOnCard = (target: EventTarget | null): boolean =>
      target instanceof Node && card.current?.contains(target) === true;
    const isInText = (citation: Element): boolean => body.current?.contains(citation) === true;
    const context = { control, isOnCard, isInText, signal: ending.signal };
    followPointer(context);
    followFocus(context);
    return () => {
      control.keep();
      ending.abort();
    };
  }, [sources]);
}

interface CardControl {
  /** The citation whose card is shown. */
  current: () => HTMLAnchorElement | undefined;
  /** Undefined closes the card. */
  show: (citation: HTMLAnchorElement | undefined) => void;
  showLater: (citation: HTMLAnchorElement | undefined, ms: number) => void;
  /** What was to happen later does not. */
  keep: () => void;
}

function createControl(sources: ReportSource[], setShown: CitationEvents["setShown"]): CardControl {
  const byNumber = new Map(sources.flatMap((source) => [source.n, ...(source.also ?? [])].map((n) => [n, source])));
  let timer: ReturnType<typeof setTimeout> | undefined;
  let current: HTMLAnchorElement | undefined;
  const keep = (): void => clearTimeout(timer);
  const show = (citation: HTMLAnchorElement | undefined): void => {
    keep();
    if (citation === current) return;
    current = citation;
    const [number = ""] = /\d+/.exec(citation?.textContent ?? "") ?? [];
    const source = byNumber.get(Number(number));
    if (citation === undefined || source === undefined) setShown(undefined);
    else setShown({ citation, source, number, cited: citedPlace(citation) });
  };
  const showLater = (citation: HTMLAnchorElement | undefined, ms: number): void => {
    keep();
    timer = setTimeout(() => show(citation), ms);
  };
  return { current: () => current, show, showLater, keep };
}

interface Followed {
  control: CardControl;
  isOnCard: (target: EventTarget | null) => boolean;
  isInText: (citation: Element) => boolean;
  signal: AbortSignal;
}

function followPointer({ control, isOnCard, isInText, signal }: Followed): void {
  let isTouch = false;
  const over = ({ target, pointerType }: PointerEvent): void => {
    if (pointerType === "touch") return;
    const citation = citationOf(target);
    if (citation !== null && isInText(citation)) control.showLater(citation, OPEN_AFTER_MS);
    else if (isOnCard(target)) control.keep();
    else if (control.current() !== document.activeElement) control.showLater(undefined, CLOSE_AFTER_MS);
  };
  const down = ({ target, pointerType }: PointerEvent): void => {
    isTouch = pointerType === "touch";
    if (citationOf(target) === null && !isOnCard(target)) control.show(undefined);
  };
  const click = (event: MouseEvent): void => {
    const citation = citationOf(event.target);
    if (citation === null || !isInText(citation)) return;
    // The first tap shows the card, which leads on; a click follows the link.
    const isFirstTap = isTouch && citation !== control.current();
    control.show(isFirstTap ? citation : undefined);
    if (isFirstTap) event.preventDefault();
  };
  document.addEventListener("pointerover", over, { signal });
  document.addEventListener("pointerdown", down, { signal });
  // Before other listeners, which follow the link.
  document.addEventListener("click", click, { signal, capture: true });
}

function followFocus({ control, isOnCard, isInText, signal }: Followed): void {
  const focus = ({ target }: FocusEvent): void => {
    const citation = citationOf(target);
    // Only by keyboard: a tap opens the card by its click.
    if (citation !== null && isInText(citation) && citation.matches(":focus-visible")) control.show(citation);
    else if (!isOnCard(target) && citation !== control.current()) control.show(undefined);
  };
  const key = (event: KeyboardEvent): void => {
    const citation = control.current();
    if (event.key !== "Escape" || citation === undefined) return;
    if (isOnCard(document.activeElement)) citation.focus();
    control.show(undefined);
    event.stopPropagation();
  };
  document.addEventListener("focusin", focus, { signal });
  document.addEventListener("keydown", key, { signal, capture: true });
}
