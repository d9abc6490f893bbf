/** One run in the list. The roles are explicit because the row is a card on narrow screens. */

import type { RunHead } from "../../../operations/view/run-view.ts";
import type { ListedRun } from "../../wire.ts";
import { OrganizeButtons } from "../library/buttons.tsx";
import { nameOf } from "../library/organize.ts";
import { durationOf, isUnfinished, kindName } from "../ui/run-state.ts";
import { costRemark, markedMoney, money } from "../ui/amounts.ts";
import { Age, Progress, Status } from "../ui/parts.tsx";
import { runPath } from "../app/router.ts";

/** More than fits into two lines. */
const MAX_SHOWN_CHARACTERS = 300;

export function RunRow({ run }: { run: ListedRun }) {
  const name = nameOf(run);
  const took = durationOf(run);
  const found = (run.found ?? []).map(({ text }) => text).join("");
  return (
    <tr role="row" data-status={run.status}>
      <td role="cell" class="state">
        <Status status={run.status} />
      </td>
      <td role="cell" class="what">
        <a class="run-link" href={runPath(run.task_id)}>
          <Text text={name} run={run} found={found} />
        </a>
        {run.title === undefined ? null : (
          <p class="asked quiet small" dir="auto">
            <Text text={run.query} run={run} found={found} />
          </p>
        )}
        {run.found === undefined || found === name || found === run.query ? null : (
          <p class="found quiet small">
            <Marked pieces={run.found} />
          </p>
        )}
        <Progress run={run} />
        {run.status === "start_unknown" ? (
          <p class="small stalled">We can't tell whether Google started this. Open the run to resolve it.</p>
        ) : null}
      </td>
      <td role="cell" class="kind quiet">
        {kindName(run)}
      </td>
      <td role="cell" class="age">
        <Age at={run.created_at} />
        {took === undefined ? null : <span class="took quiet small">took {took}</span>}
      </td>
      <td role="cell" class="cost">
        <Cost run={run} />
        <OrganizeButtons run={run} compact />
      </td>
    </tr>
  );
}

type Pieces = NonNullable<ListedRun["found"]>;

/** A title or short question is found as a whole: its words are marked where it is shown, instead of repeating it. */
const Text = ({ text, run, found }: { text: string; run: ListedRun; found: string }) =>
  found === text ? <Marked pieces={run.found ?? []} /> : <>{text.slice(0, MAX_SHOWN_CHARACTERS)}</>;

const Marked = ({ pieces }: { pieces: Pieces }) => (
  <>{pieces.map(({ text, marked }, index) => (marked === true ? <mark key={index}>{text}</mark> : plain(text)))}</>
);

/** Heading marks are removed from excerpts. */
const plain = (text: string): string => text.replaceAll(/(^|[\s…])#{1,6} /g, "$1");

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
