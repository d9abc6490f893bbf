/** Questions that are asked again and again: what is next, what they have cost, and a form to repeat a report. */

import { useId, useState } from "preact/hooks";
import type { RunLive } from "../../operations/view/run-view.ts";
import type { ScheduleList, ScheduleView } from "../wire.ts";
import { fetchJson, postJson, RefusedError } from "./app/request.ts";
import { go, runPath, SCHEDULES_PATH } from "./app/router.ts";
import { exactTime, money, nameOf } from "./ui/format.ts";
import { ConfirmDialog, useSending } from "./ui/forms.tsx";
import { announce, Problem, useLoad } from "./ui/parts.tsx";

export function SchedulesView({ filter }: { filter: URLSearchParams }) {
  const { value, error, reload } = useLoad("schedules", (signal) =>
    fetchJson<ScheduleList>("/api/schedules", { signal }),
  );
  const repeated = filter.get("repeat");
  const saved = (text: string): void => {
    announce(text);
    if (repeated !== null) go(SCHEDULES_PATH, { replace: true });
    reload();
  };
  return (
    <div class="schedules stack">
      <h1 tabIndex={-1}>Schedules</h1>
      {repeated === null ? null : <Repeat key={repeated} taskId={repeated} saved={saved} />}
      <Problem error={error}>
        <button type="button" class="button" onClick={reload}>
          Load again
        </button>
      </Problem>
      {value?.schedules.map((schedule) => (
        <Entry key={schedule.schedule_id} schedule={schedule} saved={saved} />
      ))}
      {value?.schedules.length === 0 && repeated === null ? (
        <p>
          Nothing is repeated. Open a report and choose <strong>Repeat…</strong> in its menu to have it researched again
          every day, week or month.
        </p>
      ) : null}
      <p class="quiet small">
        Runs start while this server, a worker or an assistant is running; what was missed is run once, late.
      </p>
    </div>
  );
}

type Saved = (text: string) => void;

function Repeat({ taskId, saved }: { taskId: string; saved: Saved }) {
  const { value: run, error } = useLoad(`repeat ${taskId}`, (signal) =>
    fetchJson<RunLive>(`/api/runs/${encodeURIComponent(taskId)}`, { signal }),
  );
  return (
    <section class="card stack" aria-labelledby="repeat-title">
      <h2 id="repeat-title">Repeat</h2>
      <Problem error={error} />
      {run === undefined ? null : (
        <>
          <p dir="auto">{nameOf(run)}</p>
          <RuleForm
            input={{ action: "create", task_id: taskId }}
            name="Repeat"
            close={() => go(runPath(taskId))}
            saved={saved}
          />
        </>
      )}
    </section>
  );
}

function Entry({ schedule, saved }: { schedule: ScheduleView; saved: Saved }) {
  const { schedule_id: id, query, when, state, next_at: next, last, problem, used_usd, budget_usd } = schedule;
  const [open, setOpen] = useState<"change" | "end">();
  const { pending, error, send, forget } = useSending<string>();
  const question = error instanceof RefusedError ? error.question : undefined;
  const act = (action: string, text: string, more = {}): void =>
    void send(action, async () => {
      await postJson("/api/schedules", { action, schedule_id: id, ...more });
      saved(text);
    });
  return (
    <article class="card stack tight" aria-label={query.slice(0, 100)}>
      <h2 dir="auto">{query}</h2>
      <p>
        {when} · {state === "active" && next !== undefined ? `next ${exactTime(next)}` : state}
      </p>
      <p class="quiet">
        {money(used_usd)} of {money(budget_usd)} used or reserved
        {last === undefined ? null : (
          <>
            {" · "}
            <a href={runPath(last.task_id)}>last run</a>
          </>
        )}
      </p>
      {problem === undefined ? null : <p class="notice warn">{problem}</p>}
      <Problem error={open === undefined && question === undefined ? error : undefined} />
      {open === "change" ? (
        <RuleForm
          input={{ action: "change", schedule_id: id }}
          before={schedule}
          name="Change"
          close={() => setOpen(undefined)}
          saved={(text) => {
            setOpen(undefined);
            saved(text);
          }}
        />
      ) : (
        <div class="row">
          {state === "paused" ? (
            <button type="button" class="button small" onClick={() => act("resume", "Resumed.")}>
              Resume…
            </button>
          ) : (
            <button type="button" class="button small" onClick={() => act("pause", "Paused.")}>
              Pause
            </button>
          )}
          <button type="button" class="button small" onClick={() => setOpen("change")}>
            Change…
          </button>
          <button type="button" class="button small danger" onClick={() => setOpen("end")}>
            End…
          </button>
        </div>
      )}
      {question === undefined ? null : (
        <ConfirmDialog
          title="Resume this?"
          explanation={question.text}
          isPending={pending !== undefined}
          error={undefined}
          close={forget}
          submit={{ name: "I agree", pendingName: "Resuming…", danger: false }}
          no="Not now"
          onSubmit={() => act("resume", "Resumed.", { agreed: question.subject })}
        >
          {null}
        </ConfirmDialog>
      )}
      {open === "end" ? (
        <ConfirmDialog
          title="End this schedule?"
          explanation="It starts no further run. Its reports are kept."
          isPending={pending !== undefined}
          error={error}
          close={() => setOpen(undefined)}
          submit={{ name: "End it", pendingName: "Ending…", danger: true }}
          no="Keep it"
          onSubmit={() => act("end", "Ended.")}
        >
          {null}
        </ConfirmDialog>
      ) : null}
    </article>
  );
}

const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const DAYS = [...Array.from({ length: 30 }, (_, index) => String(index + 1)), "last"];

type Rule = Pick<ScheduleView, "every" | "on" | "at" | "time_zone" | "until" | "budget_usd">;

const weekly = (): Rule => ({
  every: "week",
  on: "monday",
  at: "07:00",
  time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  budget_usd: 20,
});

interface RuleFormProps {
  input: Record<string, string>;
  before?: Rule;
  name: string;
  close: () => void;
  saved: Saved;
}

/** When, until when and within which budget. The price is confirmed in a dialog before anything is stored. */
function RuleForm({ input, before = weekly(), name, close, saved }: RuleFormProps) {
  const [every, setEvery] = useState(before.every);
  const [on, setOn] = useState(before.on);
  const [at, setAt] = useState(before.at);
  const [until, setUntil] = useState(before.until ?? "");
  const [budget, setBudget] = useState(before.budget_usd);
  const { pending, error, send, forget } = useSending<"save">();
  const zone = before.time_zone;
  const days = every === "week" ? WEEKDAYS : DAYS;
  const chosen = days.find((day) => day === on) ?? days[0] ?? "";
  const question = error instanceof RefusedError ? error.question : undefined;
  const save = (agreed?: unknown): void =>
    void send("save", async () => {
      const day = every === "day" ? {} : { on: chosen };
      const more = { ...(until === "" ? {} : { until }), ...(agreed === undefined ? {} : { agreed }) };
      const rule = { every, ...day, at, time_zone: zone, budget_usd: budget };
      const { message } = await postJson<{ message: string }>("/api/schedules", { ...input, ...rule, ...more });
      saved(message);
    });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <div class="row">
        <Choice label="Every" value={every} options={["day", "week", "month"]} choose={setEvery} />
        {every === "day" ? null : <Choice label="On" value={chosen} options={days} choose={setOn} />}
        <label class="row tight">
          At
          <input type="time" required value={at} onInput={({ currentTarget }) => setAt(currentTarget.value)} />
        </label>
        <span class="quiet small">{zone}</span>
      </div>
      <div class="row">
        <label class="row tight">
          Last day
          <input type="date" value={until} onInput={({ currentTarget }) => setUntil(currentTarget.value)} />
        </label>
        <label class="row tight">
          Budget in total, in US dollars
          <input
            type="number"
            inputMode="decimal"
            min={0.01}
            max={10_000}
            step={0.01}
            required
            value={Number.isNaN(budget) ? "" : budget}
            onInput={({ currentTarget }) => setBudget(currentTarget.valueAsNumber)}
          />
        </label>
      </div>
      <Problem error={question === undefined ? error : undefined} />
      <div class="row">
        <button type="submit" class="button primary" disabled={pending !== undefined}>
          {name}…
        </button>
        <button type="button" class="button" onClick={close}>
          Back
        </button>
      </div>
      {question === undefined ? null : (
        <ConfirmDialog
          title={`${name} this?`}
          explanation={question.text}
          isPending={pending !== undefined}
          error={undefined}
          close={forget}
          submit={{ name: "I agree", pendingName: "Saving…", danger: false }}
          no="Not now"
          onSubmit={() => save(question.subject)}
        >
          {null}
        </ConfirmDialog>
      )}
    </form>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  options: readonly string[];
  choose: (value: string) => void;
}

function Choice({ label, value, options, choose }: ChoiceProps) {
  const id = useId();
  return (
    <span class="row tight">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        {options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    </span>
  );
}
