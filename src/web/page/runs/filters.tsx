/** What narrows the list: words, the kind, the state. All of it stands in the address. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { RunSummary } from "../../wire.ts";
import { KIND_NAMES } from "../ui/kinds.ts";
import { statusWord } from "../ui/parts.tsx";
import { go } from "../app/router.ts";
import { listPath, type RunsFilter } from "./list.ts";
import { SEARCH } from "../app/shortcuts.ts";
import type { Tally } from "../figures/tally.ts";

const PAUSE_MS = 250;

/** Two states are called running; whoever chooses between them must tell them apart. */
const STATES: { status: RunSummary["status"]; name: string }[] = [
  { status: "pending", name: statusWord("pending") },
  { status: "running", name: "Running here" },
  { status: "running_async", name: "Running at Google" },
  { status: "start_unknown", name: statusWord("start_unknown") },
  { status: "completed", name: statusWord("completed") },
  { status: "failed", name: statusWord("failed") },
  { status: "cancelled", name: statusWord("cancelled") },
];

export function RunsFilters({ filter, tally }: { filter: RunsFilter; tally: Tally | undefined }) {
  return (
    <search class="stack tight filters">
      <div class="row">
        <SearchBox filter={filter} />
        <select
          aria-label="Kind"
          value={filter.kind}
          onChange={({ currentTarget }) => go(listPath(filter, { kind: currentTarget.value }))}
        >
          <option value="">All kinds</option>
          {Object.entries(KIND_NAMES).map(([kind, name]) => (
            <option key={kind} value={kind}>
              {name}
            </option>
          ))}
        </select>
      </div>
      {tally === undefined ? null : <StateFilter filter={filter} tally={tally} />}
    </search>
  );
}

function StateFilter({ filter, tally: { counts, total } }: { filter: RunsFilter; tally: Tally }) {
  const states = STATES.filter(({ status }) => (counts[status] ?? 0) > 0 || filter.status === status);
  const choices = [
    { status: "", name: "All", count: total },
    ...states.map(({ status, name }) => ({ status, name, count: counts[status] ?? 0 })),
  ];
  return (
    <nav aria-label="State" class="states">
      {choices.map(({ status, name, count }) => (
        <a
          key={status}
          href={listPath(filter, { status })}
          aria-current={filter.status === status ? "true" : undefined}
        >
          {name} <span class="count">{count.toLocaleString("en-US")}</span>
        </a>
      ))}
    </nav>
  );
}

function SearchBox({ filter }: { filter: RunsFilter }) {
  const [typed, setTyped] = useState(filter.text);
  const box = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const search = (text: string): void => {
    clearTimeout(timer.current);
    if (text.trim() === filter.text) return;
    // The first letters are a step to go back over, the others are not.
    go(listPath(filter, { text: text.trim() }), { replace: filter.text !== "" });
  };
  useEffect(() => {
    if (location.hash !== `#${SEARCH}`) return;
    history.replaceState(history.state, "", location.pathname + location.search);
    box.current?.focus();
  }, []);
  // Back, or a link: what is in the box follows the address, but not while it is ahead of it.
  useEffect(() => {
    setTyped((now) => (now.trim() === filter.text ? now : filter.text));
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
        ref={box}
        id={SEARCH}
        type="search"
        aria-label="Search questions and reports"
        placeholder="Search questions and reports"
        autocomplete="off"
        spellcheck={false}
        maxLength={500}
        value={typed}
        onInput={({ currentTarget: { value } }) => {
          setTyped(value);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => search(value), PAUSE_MS);
        }}
      />
      <kbd aria-hidden="true">/</kbd>
    </form>
  );
}
