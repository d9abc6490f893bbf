/** The forms below a report that ask for something paid: the next question, or a table of the report. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Acted, ConversationView } from "../../wire.ts";
import { keep, readKept } from "../app/browser-storage.ts";
import { postJson } from "../app/request.ts";
import { money } from "../ui/amounts.ts";
import { Consent, useConsent } from "../ui/consent.tsx";
import { announce, Problem } from "../ui/parts.tsx";
import { useSending } from "../ui/sending.ts";

interface FollowupFormProps {
  /** The run that the follow-up continues. */
  taskId: string;
  terms: NonNullable<ConversationView["table"]>;
  label: string;
  /** Of the request; undefined while something is missing. */
  body: { question: string; columns?: string[] } | undefined;
  /** Called after it was accepted. */
  clear: () => void;
  /** Called after it was sent, whatever the outcome. */
  asked: () => void;
  children: ComponentChildren;
}

function FollowupForm({ taskId, terms, label, body, clear, asked, children }: FollowupFormProps) {
  const { pending, error, send } = useSending<"ask">();
  const consent = useConsent(terms.question);
  const isReady = body !== undefined && consent.isGiven;
  const ask = async (): Promise<void> => {
    try {
      const sent = { ...body, agreed: consent.agreed };
      const { joined } = await postJson<Acted>(`/api/runs/${taskId}/followup`, sent);
      announce(joined === true ? "This was asked before; nothing is charged." : "Asked.");
      clear();
    } finally {
      asked();
    }
  };
  return (
    <form
      class="stack tight"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) void send("ask", ask);
      }}
    >
      {children}
      <Consent {...consent} />
      {error === undefined ? null : <Problem error={error} />}
      <div class="row">
        <button type="submit" class="button primary" disabled={!isReady || pending !== undefined}>
          {pending === undefined ? label : "Asking…"}
          {pending !== undefined || terms.likely_usd === undefined ? "" : ` · about ${money(terms.likely_usd)}`}
        </button>
      </div>
    </form>
  );
}

interface AskFormProps {
  /** The run below whose report the form is. */
  taskId: string;
  next: NonNullable<ConversationView["next"]>;
  asked: () => void;
}

export function AskForm({ taskId, next, asked }: AskFormProps) {
  const kept = `followup ${taskId}`;
  const [text, setText] = useState(() => readKept(kept) ?? "");
  const write = (written: string): void => {
    setText(written);
    keep(kept, written === "" ? undefined : written);
  };
  const body = /[\p{L}\p{N}]/u.test(text) ? { question: text.trim() } : undefined;
  return (
    <FollowupForm taskId={next.task_id} terms={next} label="Ask" body={body} clear={() => write("")} asked={asked}>
      <label class="stack tight">
        <span>Ask a follow-up</span>
        <textarea
          rows={3}
          maxLength={10_000}
          value={text}
          onInput={({ currentTarget }) => write(currentTarget.value)}
          dir="auto"
        />
      </label>
    </FollowupForm>
  );
}

const ROWS = "One row per item that the report compares.";

interface TableFormProps {
  taskId: string;
  terms: NonNullable<ConversationView["table"]>;
  asked: () => void;
}

export function TableForm(props: TableFormProps) {
  const [text, setText] = useState("");
  const [rows, setRows] = useState("");
  const columns = text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const body = columns.length === 0 ? undefined : { question: rows.trim() === "" ? ROWS : rows.trim(), columns };
  return (
    <details class="make-table">
      <summary>Make a table</summary>
      <FollowupForm {...props} label="Make a table" body={body} clear={() => setText("")}>
        <p class="quiet small">
          A model reads this report and fills in the table. Every cell has its sources, or is marked as not found.
        </p>
        <TextField label="Columns, separated by commas" value={text} maxLength={2_000} write={setText} />
        <TextField label="What a row is (optional)" value={rows} maxLength={1_000} write={setRows} />
      </FollowupForm>
    </details>
  );
}

interface TextFieldProps {
  label: string;
  value: string;
  maxLength: number;
  write: (text: string) => void;
}

const TextField = ({ label, value, maxLength, write }: TextFieldProps) => (
  <label class="stack tight">
    <span>{label}</span>
    <input
      type="text"
      value={value}
      maxLength={maxLength}
      onInput={({ currentTarget }) => write(currentTarget.value)}
      dir="auto"
    />
  </label>
);
