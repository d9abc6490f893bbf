/** The form that makes a table of a report, and the downloads of a table. */

import { useState } from "preact/hooks";
import type { ConversationView } from "../../wire.ts";
import { DownloadButton } from "../report/download.tsx";
import { Consent, useConsent } from "../ui/consent.tsx";
import { Problem } from "../ui/parts.tsx";
import { priced, useAsking } from "./asking.tsx";

const ROWS = "One row per item that the report compares.";

interface TableFormProps {
  taskId: string;
  terms: NonNullable<ConversationView["table"]>;
  asked: () => void;
}

export function TableForm({ taskId, terms, asked }: TableFormProps) {
  const [text, setText] = useState("");
  const [rows, setRows] = useState("");
  const { error, pending, ask } = useAsking(taskId, asked);
  const consent = useConsent(terms.question);
  const columns = columnsIn(text);
  const isReady = columns.length > 0 && consent.isGiven;
  const submit = async (): Promise<void> => {
    const question = rows.trim() === "" ? ROWS : rows.trim();
    if (await ask({ question, columns, agreed: consent.agreed })) setText("");
  };
  return (
    <details class="ask-followup make-table">
      <summary>Make a table</summary>
      <form
        class="stack tight"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) void submit();
        }}
      >
        <p class="quiet small">
          A model reads this report and fills in the table. Every cell has its sources, or is marked as not found.
        </p>
        <label class="stack tight">
          <span>Columns, separated by commas</span>
          <input
            type="text"
            value={text}
            maxLength={2_000}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
            dir="auto"
          />
        </label>
        <label class="stack tight">
          <span>What a row is (optional)</span>
          <input
            type="text"
            value={rows}
            maxLength={1_000}
            onInput={({ currentTarget }) => setRows(currentTarget.value)}
            dir="auto"
          />
        </label>
        <Consent {...consent} />
        {error === undefined ? null : <Problem error={error} />}
        <div class="row">
          <button type="submit" class="button" disabled={!isReady || pending}>
            {pending ? "Asking…" : priced("Make a table", terms.likely_usd)}
          </button>
        </div>
      </form>
    </details>
  );
}

const columnsIn = (text: string): string[] =>
  text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");

export const TableDownloads = ({ taskId }: { taskId: string }) => (
  <div class="row report-tools">
    <DownloadButton path={`/api/runs/${taskId}/table.csv`} label="Download .csv" />
    <DownloadButton path={`/api/runs/${taskId}/table.json`} label="Download .json" />
  </div>
);
