/** Details of a run: times, tokens, model, and ids. */

import type { ComponentChildren } from "preact";
import type { RunLive } from "../../../operations/view/run-view.ts";
import { CopyButton } from "../ui/buttons.tsx";
import { exactTime, money, rangeText } from "../ui/format.ts";
import { runPath } from "../app/router.ts";

export function RunFacts({ run }: { run: RunLive }) {
  const isOver = run.completed_at !== undefined;
  return (
    <details class="facts">
      <summary>Details</summary>
      <dl>
        <div class="wide">
          <dt>Question</dt>
          <dd class="question" dir="auto">
            {run.query}
          </dd>
        </div>
        <Fact name="Estimated cost">{estimateOf(run)}</Fact>
        <When name="Created" at={run.created_at} />
        <When name="Started" at={run.started_at} />
        <When name="Ended" at={run.completed_at} />
        {isOver ? null : <When name="Deadline" at={run.deadline_at} />}
        <Fact name="Tokens">{tokensOf(run)}</Fact>
        <Fact name="Model">{run.model}</Fact>
        <Fact name="Sent with it">{run.material?.join(", ")}</Fact>
        <Fact name="Source links">{unresolvedOf(run)}</Fact>
        <Fact name="Answered by">{nameIn(BACKENDS, run.backend)}</Fact>
        <Fact name="Started from">{nameIn(CLIENTS, run.client)}</Fact>
        <Id name="Task id" id={run.task_id} />
        <Id name="Google's interaction id" id={run.interaction_id} />
        {run.parent_task_id === undefined || run.followup_context !== undefined ? null : (
          <Fact name="Part of">
            <a href={runPath(run.parent_task_id)}>another run</a>
          </Fact>
        )}
      </dl>
    </details>
  );
}

const BACKENDS: Readonly<Record<string, string>> = {
  api: "Gemini API",
  cli: "Gemini CLI",
  import: "imported from a file",
};
const CLIENTS: Readonly<Record<string, string>> = { page: "this page", cli: "command line" };

const nameIn = (names: Readonly<Record<string, string>>, key: string | undefined): string | undefined =>
  key === undefined ? undefined : (names[key] ?? key);

const unresolvedOf = ({ unresolved_links: count }: RunLive): string | undefined =>
  count === undefined
    ? undefined
    : `The real address of ${count === 1 ? "1 source" : `${count} sources`} could not be looked up; Google's links expire after 30 days.`;

function estimateOf({ estimate = {}, estimated_usd }: RunLive): string | undefined {
  const { min_usd: min, likely_usd: likely = estimated_usd, max_usd: max } = estimate;
  if (likely === undefined) return undefined;
  const range = min === undefined || max === undefined ? undefined : rangeText(money(min), money(max));
  return range === undefined ? money(likely) : `${money(likely)} (${range})`;
}

function tokensOf({ tokens: { input, output }, usage_final }: RunLive): string | undefined {
  if (input + output === 0) return usage_final ? "none" : undefined;
  const counts = `${input.toLocaleString("en-US")} in, ${output.toLocaleString("en-US")} out`;
  return usage_final ? counts : `${counts} so far`;
}

function Fact({ name, children }: { name: string; children?: ComponentChildren }) {
  if (children === undefined) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function When({ name, at }: { name: string; at: string | undefined }) {
  if (at === undefined) return null;
  return (
    <Fact name={name}>
      <time dateTime={at}>{exactTime(at)}</time>
    </Fact>
  );
}

function Id({ name, id }: { name: string; id: string | undefined }) {
  if (id === undefined) return null;
  return (
    <div class="wide">
      <dt>{name}</dt>
      <dd class="row">
        <code>{id}</code>
        <CopyButton subject={name} text={() => Promise.resolve(id)} />
      </dd>
    </div>
  );
}
