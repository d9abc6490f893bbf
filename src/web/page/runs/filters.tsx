/** The filters of the list: text, depth, and state or mark, all stored in the URL. */

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { KIND_NAMES, RUN_KINDS, RUN_STATUSES, type RunStatus, STATUS_LABELS } from "../../../runs/run.ts";
import type { RunCounts } from "../../wire.ts";
import { go } from "../app/router.ts";
import { listPath, type RunsFilter } from "./list.ts";

const TYPING_PAUSE_MS = 250;

/** The two running states have different names here, because they are separate choices. */
const STATES: Record<RunStatus, string> = {
  ...STATUS_LABELS,
  running: "Searching",
  running_async: "Researching",
};

interface RunsFiltersProps {
  filter: RunsFilter;
  counts: RunCounts | undefined;
  /** All tags of the owner. */
  tags: readonly string[];
  /** On a phone the filters are folded. */
  isNarrow: boolean;
  /** The menu of the list. */
  children: ComponentChildren;
}

export function RunsFilters({ filter, counts, tags, isNarrow, children }: RunsFiltersProps) {
  const states = counts === undefined ? null : <StateFilter filter={filter} counts={counts} />;
  const choices = <Choices filter={filter} tags={tags} />;
  return (
    <search class="stack tight filters">
      <div class="row">
        <SearchBox filter={filter} />
        {isNarrow ? (
          <details class="fold" open={isFiltered(filter)}>
            <summary class="button">Filter</summary>
            <div class="stack tight">
              {choices}
              {states}
            </div>
          </details>
        ) : (
          choices
        )}
        {children}
      </div>
      {isNarrow ? null : states}
    </search>
  );
}

const isFiltered = ({ text: _text, cursor: _cursor, ...chosen }: RunsFilter): boolean =>
  Object.values(chosen).some((value) => value !== "");

function Choices({ filter, tags }: Pick<RunsFiltersProps, "filter" | "tags">) {
  return (
    <>
      <select
        aria-label="Depth"
        value={filter.kind}
        onChange={({ currentTarget }) => go(listPath(filter, { kind: currentTarget.value }))}
      >
        <option value="">Every depth</option>
        {RUN_KINDS.map((kind) => (
          <option key={kind} value={kind}>
            {KIND_NAMES[kind]}
          </option>
        ))}
      </select>
      {tags.length === 0 && filter.tag === "" ? null : (
        <select
          aria-label="Tag"
          value={filter.tag}
          onChange={({ currentTarget }) => go(listPath(filter, { tag: currentTarget.value }))}
        >
          <option value="">Every tag</option>
          {[...new Set([...tags, ...(filter.tag === "" ? [] : [filter.tag])])].map((tag) => (
            <option key={tag}>{tag}</option>
          ))}
        </select>
      )}
    </>
  );
}

function StateFilter({
  filter,
  counts: { counts, total, starred, archived },
}: {
  filter: RunsFilter;
  counts: RunCounts;
}) {
  const choices = [
    { ...ANY, name: "All", count: total },
    ...RUN_STATUSES.map((status) => ({ ...ANY, status, name: STATES[status], count: counts[status] ?? 0 })),
    { ...ANY, starred: "true", name: "Starred", count: starred },
    { ...ANY, archived: "true", name: "Archived", count: archived },
  ].map(({ name, count, ...choice }) => ({ name, count, choice, isCurrent: isCurrent(filter, choice) }));
  const shown = choices.filter(({ name, count, isCurrent: current }) => name === "All" || count > 0 || current);
  return (
    <nav aria-label="Filter" class="row chips states">
      {shown.map(({ name, choice, isCurrent: current }) => (
        <a key={name} href={listPath(filter, choice)} aria-current={current ? "true" : undefined}>
          {name}
        </a>
      ))}
    </nav>
  );
}

/** Of state, star and archive one is chosen at a time. */
const ANY = { status: "", starred: "", archived: "" };

const isCurrent = (filter: RunsFilter, { status, starred, archived }: typeof ANY): boolean =>
  filter.status === status && filter.starred === starred && filter.archived === archived;

function SearchBox({ filter }: { filter: RunsFilter }) {
  const [typed, setTyped] = useState(filter.text);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  /** The text this field last put into the URL; letters typed while that URL is applied stay in the field. */
  const applied = useRef(filter.text);
  const search = (text: string): void => {
    clearTimeout(timer.current);
    const before = applied.current;
    if (text.trim() === before) return;
    applied.current = text.trim();
    // Only the first letter adds a history entry.
    go(listPath(filter, { text: text.trim() }), { replace: before !== "" });
  };
  // After back or a link the field follows the URL.
  useLayoutEffect(() => {
    if (filter.text === applied.current) return;
    applied.current = filter.text;
    clearTimeout(timer.current);
    setTyped(filter.text);
  }, [filter.text]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <form
      class="search"
      onSubmit={(event) => {
        event.preventDefault();
        search(typed);
      }}
    >
      <input
        id="search"
        type="search"
        aria-label="Search titles, questions and reports"
        placeholder="Search what you have asked and found"
        autocomplete="off"
        spellcheck={false}
        maxLength={500}
        value={typed}
        onInput={({ currentTarget: { value } }) => {
          setTyped(value);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => search(value), TYPING_PAUSE_MS);
        }}
      />
    </form>
  );
}
