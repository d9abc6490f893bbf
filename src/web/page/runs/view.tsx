/** The conversations so far: one row each, with progress, and the links between the pages of the list. */

import { useEffect, useState } from "preact/hooks";
import type { ListedRun, RunPage } from "../../wire.ts";
import { Age, announce, Problem, Progress, Status, useMedia } from "../ui/parts.tsx";
import { RunsFilters } from "./filters.tsx";
import {
  type Conversation,
  conversationsOf,
  EVERYTHING,
  isFreeFailure,
  listPath,
  readFilter,
  type RunsFilter,
  useRunsPage,
} from "./list.ts";
import type { RunHead } from "../../../operations/view/run-view.ts";
import { useOrganize } from "../run/organize.tsx";
import { Menu } from "../ui/menu.tsx";
import { costRemark, isUnfinished, kindName, markedMoney, money, nameOf } from "../ui/format.ts";
import { runPath } from "../app/router.ts";
import { ImportButton, ListMenu } from "./library.tsx";
import type { Selecting } from "./selection.tsx";
import { LazyView } from "../app/lazy-view.tsx";

/** The width below which entries are cards. */
const NARROW = "(max-width: 52rem)";

const selectionBar = async () => (await import("./selection.tsx")).SelectionBar;

export function RunsList({ filter }: { filter: RunsFilter }) {
  const { page, error, loading } = useRunsPage(filter);
  const [selected, setSelected] = useState<ReadonlySet<string>>();
  const [imported, setImported] = useState("");
  const isNarrow = useMedia(NARROW);
  const foundNow = filter.text === "" || loading ? undefined : foundText(page?.found);
  useEffect(() => {
    if (foundNow !== undefined) announce(foundNow);
  }, [foundNow, filter.text]);
  return (
    <section class="stack runs-view" aria-labelledby="runs-title">
      <h2 id="runs-title" class="unseen">
        Your research
      </h2>
      {page === undefined || hasRuns(page) ? (
        <RunsFilters
          filter={filter}
          counts={filter.text === "" ? page : page?.found}
          tags={page?.tags ?? []}
          isNarrow={isNarrow}
        >
          {selected === undefined && page !== undefined && page.runs.length > 0 ? (
            <ListMenu imported={setImported} select={() => setSelected(new Set())} />
          ) : null}
        </RunsFilters>
      ) : null}
      <Problem error={error} />
      {imported === "" ? null : <p class="quiet small">{imported}</p>}
      {page === undefined && error === undefined ? <p class="quiet soon">Loading…</p> : null}
      {page === undefined ? null : (
        <Listing {...{ page, filter, loading, isNarrow, selected, setSelected, setImported }} />
      )}
    </section>
  );
}

interface ListingProps extends Selecting {
  page: RunPage;
  filter: RunsFilter;
  loading: boolean;
  isNarrow: boolean;
  setImported: (message: string) => void;
}

function Listing({ page, filter, loading, isNarrow, selected, setSelected, setImported }: ListingProps) {
  if (!hasRuns(page) && page.runs.length === 0) return <NoRuns setImported={setImported} />;
  if (page.runs.length === 0) {
    return (
      <div class="card stack tight" aria-busy={loading}>
        <p>{filter.text === "" ? "Nothing matches this filter." : `No results for “${filter.text}”.`}</p>
        <p>
          {page.total === 0 ? (
            <a href={listPath(filter, { ...EVERYTHING, archived: "true" })}>Show what is archived</a>
          ) : (
            <a href={listPath(filter, EVERYTHING)}>Show everything</a>
          )}
        </p>
      </div>
    );
  }
  const all = conversationsOf(page);
  const isUnfiltered = filter.text === "" && filter.status === "" && filter.tag === "";
  const shown = isUnfiltered ? all.filter((entry) => !isFreeFailure(entry)) : all;
  const select = (taskId: string, isSelected: boolean): void => {
    const next = new Set(selected);
    if (isSelected) next.add(taskId);
    else next.delete(taskId);
    setSelected(next);
  };
  return (
    <>
      {selected === undefined ? null : (
        <LazyView load={selectionBar} shown={shown} selected={selected} setSelected={setSelected} />
      )}
      {shown.length === 0 ? null : (
        <table role="table" class="runs" aria-label={tableName(filter)} aria-busy={loading}>
          <thead role="rowgroup">
            <tr role="row">
              {["Question", "Depth", "Asked", "Cost", "Tidy up"].map((name) => (
                <th key={name} role="columnheader" scope="col" class={`of-${name.toLowerCase().replace(" ", "-")}`}>
                  {name === "Tidy up" ? <span class="unseen">{name}</span> : name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {shown.map((entry) => (
              <Row
                key={entry.first.task_id}
                entry={entry}
                isNarrow={isNarrow}
                isSelected={selected?.has(entry.first.task_id)}
                select={(isSelected) => select(entry.first.task_id, isSelected)}
              />
            ))}
          </tbody>
        </table>
      )}
      <LeftOut count={all.length - shown.length} filter={filter} />
      <RunsPaging page={page} filter={filter} />
    </>
  );
}

const LeftOut = ({ count, filter }: { count: number; filter: RunsFilter }) =>
  count === 0 ? null : (
    <p class="quiet small">
      {count === 1 ? "1 start failed and cost nothing." : `${count} starts failed and cost nothing.`}{" "}
      <a href={listPath(filter, { ...EVERYTHING, status: "failed" })}>Show {count === 1 ? "it" : "them"}</a>
    </p>
  );

const hasRuns = ({ total, archived }: RunPage): boolean => total + archived > 0;

const tableName = ({ text }: RunsFilter): string =>
  text === "" ? "Your research, newest first" : `Your research with ${text}, best matches first`;

function foundText(found: RunPage["found"]): string | undefined {
  if (found === undefined) return undefined;
  if (found.total === 0) return "No results.";
  return found.total === 1 ? "1 result." : `${found.total.toLocaleString("en-US")} results.`;
}

/** Before the first question: the other places to ask from. */
const NoRuns = ({ setImported }: Pick<ListingProps, "setImported">) => (
  <div class="stack empty">
    <h3>Nothing asked yet</h3>
    <p>
      Everything you research appears here, wherever you ask: above, in your assistant (
      <code>gemini-search-mcp init</code> connects it), or in a terminal:
    </p>
    <pre tabIndex={0}>
      <code>gemini-search-mcp search "When is the next total solar eclipse?"</code>
    </pre>
    <p class="row">
      Or bring what you have: Markdown reports from elsewhere, or an exported archive.{" "}
      <ImportButton done={setImported} />
    </p>
  </div>
);

function RunsPaging({ page, filter }: { page: RunPage; filter: RunsFilter }) {
  if (filter.cursor === "" && page.next_cursor === undefined) return null;
  return (
    <nav class="row" aria-label="Pages">
      {filter.cursor === "" ? null : (
        <a class="button" href={listPath(filter, {})}>
          First page
        </a>
      )}
      {page.next_cursor === undefined ? null : (
        <a class="button" href={listPath(filter, { cursor: page.next_cursor })} rel="next">
          {filter.text === "" ? "Older" : "More"}
        </a>
      )}
    </nav>
  );
}

/** More than fits into two lines. */
const MAX_SHOWN_CHARACTERS = 300;

interface RowProps {
  entry: Conversation;
  /** In a card the icons are in a menu. */
  isNarrow: boolean;
  /** Undefined while nothing can be selected. */
  isSelected: boolean | undefined;
  select: (isSelected: boolean) => void;
}

function Row({ entry: { first, later, leading }, isNarrow, isSelected, select }: RowProps) {
  const name = nameOf(first);
  const organizing = useOrganize(first, { compact: !isNarrow, isNamed: true });
  const found = (leading.found ?? []).map(({ text }) => text).join("");
  const own = leading === first ? found : "";
  const isExcerptNew = found !== "" && ![name, first.query].includes(found);
  const running = [...later, first].find(({ status }) => isUnfinished(status)) ?? first;
  return (
    <tr role="row" data-status={running.status}>
      <td role="cell" class="what">
        {isSelected === undefined ? null : (
          <input
            type="checkbox"
            class="select"
            aria-label={`Select ${name.slice(0, 100)}`}
            checked={isSelected}
            onChange={({ currentTarget }) => select(currentTarget.checked)}
          />
        )}
        <a class="run-link" href={runPath(first.task_id)}>
          <Text text={name} run={first} found={own} />
        </a>
        {running.status === "completed" ? null : (
          <div class="state">
            <Status status={running.status} />
          </div>
        )}
        {first.title === undefined ? null : (
          <p class="asked quiet small" dir="auto">
            <Text text={first.query} run={first} found={own} />
          </p>
        )}
        <Tags tags={first.tags} />
        {isExcerptNew ? (
          <p class="found quiet small">
            {leading === first ? null : <span>{kindName(leading)}: </span>}
            <Marked pieces={leading.found ?? []} />
          </p>
        ) : null}
        <Progress run={running} />
        {first.status === "failed" && first.error_message !== undefined ? (
          <p class="reason quiet small">{first.error_message}</p>
        ) : null}
        {first.status === "start_unknown" ? (
          <p class="small stalled">It is not known whether Google started this. Open it to see what you can do.</p>
        ) : null}
      </td>
      <td role="cell" class="kind quiet">
        {kindName(first)} <Later later={later} />
      </td>
      <td role="cell" class="age quiet">
        <Age at={first.created_at} />
      </td>
      <td role="cell" class="cost">
        <Cost run={first} />
      </td>
      <td role="cell" class="tidy">
        {isNarrow ? (
          <Menu label="…" name={`More: ${name.slice(0, 100)}`}>
            {organizing.buttons}
          </Menu>
        ) : (
          organizing.buttons
        )}
        {organizing.dialog}
      </td>
    </tr>
  );
}

const Tags = ({ tags = [] }: Pick<ListedRun, "tags">) =>
  tags.length === 0 ? null : (
    <p class="row tight small tags">
      {tags.map((tag) => (
        <a key={tag} href={listPath(readFilter(new URLSearchParams()), { tag })}>
          #{tag}
        </a>
      ))}
    </p>
  );

function Later({ later }: { later: ListedRun[] }) {
  const tables = later.filter(({ is_table: isTable }) => isTable === true).length;
  const parts = [countText(later.length - tables, "follow-up"), countText(tables, "table")];
  const text = parts.filter((part) => part !== undefined).join(", ");
  return text === "" ? null : <span class="later small">+ {text}</span>;
}

const countText = (count: number, what: string): string | undefined =>
  count === 0 ? undefined : `${count} ${what}${count === 1 ? "" : "s"}`;

type Pieces = NonNullable<ListedRun["found"]>;

/** A title or short question is found as a whole: its words are marked where it is shown, instead of repeating it. */
const Text = ({ text, run, found }: { text: string; run: ListedRun; found: string }) =>
  found === text ? <Marked pieces={run.found ?? []} /> : <>{text.slice(0, MAX_SHOWN_CHARACTERS)}</>;

const Marked = ({ pieces }: { pieces: Pieces }) => (
  <>{pieces.map(({ text, marked }, index) => (marked === true ? <mark key={index}>{text}</mark> : plain(text)))}</>
);

/** Excerpts are shown without the marks of Markdown. */
const plain = (text: string): string =>
  text.replaceAll(/(^|[\s…])(?:#{1,6}|[*+>-]|\|) /g, "$1").replaceAll(/\*\*|__|`|\|/g, "");

function Cost({ run }: { run: RunHead }) {
  if (isUnfinished(run.status) && run.estimated_usd !== undefined) {
    return (
      <span class="quiet" title="Estimated at the start">
        <span aria-hidden="true">≈ </span>
        <span class="unseen">about </span>
        {money(run.estimated_usd)}
      </span>
    );
  }
  if (run.cost_usd !== undefined) return <span title={costRemark(run)}>{markedMoney(run.cost_usd, run)}</span>;
  return (
    <span class="quiet">
      <span aria-hidden="true">–</span>
      <span class="unseen">cost not known</span>
    </span>
  );
}
