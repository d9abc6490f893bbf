/** The actions on a run: buttons that act immediately or ask first, their dialogs, the result, and asking again. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { RunAction, RunLive } from "../../../operations/view/run-view.ts";
import type { Acted, EarlierReports, RestartTerms } from "../../wire.ts";
import { actionText } from "./actions-text.ts";
import { Menu } from "../ui/menu.tsx";
import { ReportExport } from "../report/export.tsx";
import { useOrganize } from "./organize.tsx";
import { NotifyButton } from "./notify.tsx";
import { fetchJson, postJson, RefusedError, SERVER_AWAY } from "../app/request.ts";
import { useLive } from "../live/live.ts";
import { announce, Problem, useLoad } from "../ui/parts.tsx";
import { Check, ConfirmDialog, useSending } from "../ui/forms.tsx";
import { changesPath, go, runPath, SCHEDULES_PATH } from "../app/router.ts";
import { hasEnded } from "../ui/format.ts";
import { askSearch, draftOf, isSearch, storeDraft } from "../start/draft.ts";

interface ActionsProps {
  run: RunLive;
  /** Called after an action has changed the run. */
  done: () => void;
}

const DIALOGS: Partial<Record<RunAction, typeof CancelDialog>> = {
  cancel: CancelDialog,
  adopt: AdoptDialog,
  restart: RestartDialog,
  delete: DeleteDialog,
};

export function Actions({ run, done }: ActionsProps) {
  const [asking, setAsking] = useState<RunAction | undefined>(undefined);
  const [message, setMessage] = useState<string | undefined>(undefined);
  const result = useRef<HTMLParagraphElement>(null);
  const actionState = useAction(run, (text, status) => {
    // The run no longer exists.
    if (status === "deleted") return go("/", { replace: true });
    setAsking(undefined);
    setMessage(text);
    done();
    // Focused so that screen readers announce it; the button that had the focus may be gone.
    setTimeout(() => result.current?.focus());
  });
  const { pending, error, act, forget } = actionState;
  // An error about an earlier state of the run, or of a server that is back, would be wrong.
  useEffect(forget, [run.status]);
  useLive({
    hello: () => {
      if (error instanceof RefusedError && error.code === SERVER_AWAY) forget();
    },
  });
  const organizing = useOrganize(run, { compact: false, isNamed: false });
  const Dialog = asking === undefined ? undefined : DIALOGS[asking];
  const begin = (action: RunAction): void => {
    setMessage(undefined);
    forget();
    if (action in DIALOGS) setAsking(action);
    else void act({ action });
  };
  const button = (action: RunAction) => (
    <ActionButton key={action} run={run} action={action} pending={pending} begin={() => begin(action)} />
  );
  return (
    <section class="actions stack tight" aria-label="Actions">
      <div class="row">
        {run.has_report ? <ReportExport run={run} /> : null}
        {run.actions.filter((action) => action !== "delete").map(button)}
        <NotifyButton run={run} />
        {run.has_report ? null : <AskAgain run={run} />}
        <Menu label="More">
          {run.has_report ? <AskAgain run={run} /> : null}
          {run.has_report && run.followup_context === undefined ? <CompareLink taskId={run.task_id} /> : null}
          {run.has_report && run.followup_context === undefined ? (
            <a class="button" href={`${SCHEDULES_PATH}?repeat=${run.task_id}`}>
              Repeat…
            </a>
          ) : null}
          {organizing.buttons}
          {run.actions.filter((action) => action === "delete").map(button)}
        </Menu>
      </div>
      {message === undefined ? null : (
        <p class="notice" tabIndex={-1} ref={result}>
          {message}
        </p>
      )}
      {error === undefined || asking !== undefined ? null : <Problem error={error} />}
      {organizing.dialog}
      {Dialog === undefined ? null : <Dialog run={run} actionState={actionState} close={() => setAsking(undefined)} />}
    </section>
  );
}

function CompareLink({ taskId }: { taskId: string }) {
  const path = `/api/runs/${taskId}/earlier`;
  const { value } = useLoad(path, (signal) => fetchJson<EarlierReports>(path, { signal }));
  if (value === undefined || value.reports.length === 0) return null;
  return (
    <a class="button" href={changesPath(taskId)}>
      Compare with an earlier report
    </a>
  );
}

interface ActionButtonProps {
  run: RunLive;
  action: RunAction;
  pending: RunAction | undefined;
  begin: () => void;
}

function ActionButton({ run, action, pending, begin }: ActionButtonProps) {
  const { name, pendingName, explanation, confirmation, tone } = actionText(action, run);
  // What to do about an unknown start is a choice between three, each of which needs its reason.
  const isExplained = confirmation === undefined || run.status === "start_unknown";
  return (
    <span class={run.status === "start_unknown" ? "row choice" : "row"}>
      <button
        type="button"
        class={`button ${tone}`}
        disabled={pending !== undefined}
        aria-haspopup={confirmation === undefined ? undefined : "dialog"}
        aria-describedby={isExplained ? `${action}-explanation` : undefined}
        onClick={begin}
      >
        {pending === action ? pendingName : name}
      </button>
      {isExplained ? (
        <span id={`${action}-explanation`} class="quiet small">
          {explanation}
        </span>
      ) : null}
    </span>
  );
}

/** One action at a time; further clicks are ignored. */
function useAction(
  run: RunLive,
  done: (message: string, status: Acted["status"]) => void,
): ActionState & { forget: () => void } {
  const { send, ...state } = useSending<RunAction>();
  const act = ({ action, body = {} }: ActionInput): Promise<boolean> =>
    send(action, async () => {
      const route = action === "cancel" || action === "delete" ? action : "resume";
      const { message = "Done.", notice, status } = await postJson<Acted>(`/api/runs/${run.task_id}/${route}`, body);
      done(notice === undefined ? message : `${message} ${notice}`, status);
    });
  return { ...state, act };
}

interface ActionInput {
  action: RunAction;
  body?: Record<string, unknown>;
}

interface ActionState {
  pending: RunAction | undefined;
  error: unknown;
  /** Resolves to whether the server did it. */
  act: (input: ActionInput) => Promise<boolean>;
}

interface DialogProps {
  run: RunLive;
  actionState: ActionState;
  close: () => void;
}

function CancelDialog(props: DialogProps) {
  const [savePartial, setSavePartial] = useState(true);
  return (
    <ActionDialog {...props} input={{ action: "cancel", body: { save_partial: savePartial } }}>
      {props.run.kind === "agent" ? null : (
        <Check checked={savePartial} onChange={setSavePartial}>
          Keep the results so far as a partial report
        </Check>
      )}
    </ActionDialog>
  );
}

function DeleteDialog(props: DialogProps) {
  const [atGoogle, setAtGoogle] = useState(false);
  // As the dialog was opened for it: a report that arrives meanwhile is not deleted unread.
  const [status] = useState(props.run.status);
  return (
    <ActionDialog {...props} input={{ action: "delete", body: { delete_at_google: atGoogle, seen_status: status } }}>
      {props.run.interaction_id === undefined ? null : (
        <Check checked={atGoogle} onChange={setAtGoogle}>
          Delete Google's copy too
        </Check>
      )}
    </ActionDialog>
  );
}

function AdoptDialog(props: DialogProps) {
  const [typed, setTyped] = useState("");
  const id = typed.trim();
  return (
    <ActionDialog {...props} input={{ action: "adopt", body: { interaction_id: id } }} disabled={id === ""}>
      <div class="stack tight">
        <label for="interaction-id">Interaction id</label>
        <input
          id="interaction-id"
          value={typed}
          autocomplete="off"
          spellcheck={false}
          aria-describedby="interaction-id-where"
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <p id="interaction-id-where" class="quiet small">
          Google AI Studio lists it under the logs of your key's project: the interaction with this question, started
          about {new Date(props.run.created_at).toLocaleTimeString("en-GB")}. It often begins with <code>v1_</code>.
        </p>
      </div>
    </ActionDialog>
  );
}

function RestartDialog({ actionState, ...props }: DialogProps) {
  const [accepted, setAccepted] = useState(false);
  // Of the run that the dialog was opened for: another window may have sent it again since.
  const [path] = useState(`/api/runs/${props.run.task_id}/restart`);
  const { value, error } = useLoad(path, (signal) => fetchJson<RestartTerms>(path, { signal }));
  return (
    <ActionDialog
      {...props}
      actionState={{ ...actionState, error: actionState.error ?? error }}
      input={{ action: "restart", body: { accept_possible_double_charge: true, agreed: value?.question?.subject } }}
      disabled={!accepted || value === undefined}
    >
      <p>If Google shows the first run, using that run is free.</p>
      {value?.question === undefined ? null : <p>{value.question.text}</p>}
      <Check checked={accepted} onChange={setAccepted}>
        I accept that both may be charged
      </Check>
    </ActionDialog>
  );
}

interface ActionDialogProps extends DialogProps {
  input: ActionInput;
  /** Another name of the button that acts. */
  yes?: string | undefined;
  disabled?: boolean;
  children: ComponentChildren;
}

function ActionDialog({ run, actionState, close, input, children, ...more }: ActionDialogProps) {
  const { disabled = false } = more;
  const { pendingName, explanation, tone, confirmation } = actionText(input.action, run);
  if (confirmation === undefined) return null;
  return (
    <ConfirmDialog
      title={confirmation.title}
      explanation={explanation}
      isPending={actionState.pending !== undefined}
      error={actionState.error}
      close={close}
      submit={{ name: more.yes ?? confirmation.yes, pendingName, danger: tone !== "primary", disabled }}
      no={confirmation.no}
      onSubmit={() => void actionState.act(input)}
    >
      {children}
    </ConfirmDialog>
  );
}

function AskAgain({ run }: { run: RunLive }) {
  const { pending, error, send } = useSending<"ask">();
  // A follow-up makes no sense without what it continues; the next one is asked below its answer.
  if (!hasEnded(run.status) || run.followup_context !== undefined) return null;
  const draft = draftOf(run);
  const edit = (): void => {
    storeDraft(draft);
    go("/");
  };
  const ask = (): Promise<boolean> =>
    send("ask", async () => {
      const { task_id } = await askSearch(draft);
      announce("Started.");
      go(runPath(task_id));
    });
  return (
    <>
      {isSearch(draft) ? (
        <button type="button" class="button" disabled={pending !== undefined} onClick={() => void ask()}>
          {pending === undefined ? "Ask again" : "Starting…"}
        </button>
      ) : null}
      <button type="button" class="button" onClick={edit}>
        {isSearch(draft) ? "Edit and ask" : "Ask again…"}
      </button>
      <Problem error={error} />
    </>
  );
}
