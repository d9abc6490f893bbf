/** The form fields of a start: question, depth, files, plan, and options. */

import { useState } from "preact/hooks";
import type { Wishes } from "../../../search/wishes.ts";
import { Check } from "../ui/forms.tsx";
import { DEPTHS, isSearch, type KeptDraft, MAX_HOURS, MAX_QUESTION_CHARACTERS } from "./draft.ts";
import type { Upload } from "../../wire.ts";

type Fields = Pick<KeptDraft, "draft" | "change">;

export function QuestionField({ draft, change }: Fields) {
  const { length } = draft.query.trim();
  const tooLong = length > MAX_QUESTION_CHARACTERS;
  return (
    <div class="stack tight">
      <h1 tabIndex={-1}>
        <label for="question">What do you want to know?</label>
      </h1>
      <textarea
        id="question"
        rows={2}
        required
        dir="auto"
        placeholder="Add purpose, time frame and region if they matter."
        aria-invalid={tooLong}
        aria-describedby={tooLong ? "question-count" : undefined}
        value={draft.query}
        onInput={({ currentTarget }) => change({ query: currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          event.currentTarget.form?.requestSubmit();
        }}
      />
      {tooLong ? (
        <span id="question-count" class="small too-long">
          {length.toLocaleString("en-US")} of {MAX_QUESTION_CHARACTERS.toLocaleString("en-US")} characters
        </span>
      ) : null}
    </div>
  );
}

export function DepthField({ draft, change }: Fields) {
  const about = DEPTHS.find(({ depth }) => depth === draft.depth)?.about;
  return (
    <fieldset class="stack tight">
      <legend class="unseen">Depth</legend>
      <div class="depths">
        {DEPTHS.map(({ depth, name, price }) => (
          <label key={depth} class="depth">
            <input
              type="radio"
              name="depth"
              value={depth}
              checked={draft.depth === depth}
              onChange={() => change({ depth })}
            />
            <span>
              <strong>{name}</strong>
              <span class="small quiet">{price}</span>
            </span>
          </label>
        ))}
      </div>
      <p class="small quiet">{about}</p>
    </fieldset>
  );
}

export const PlanField = ({ draft, change }: Fields) => (
  <Check checked={draft.plan} onChange={(plan) => change({ plan })}>
    Show me the plan first: you can change it, and pay for the research when you start it
  </Check>
);

const ResearchOptions = ({ draft, change }: Fields) => (
  <>
    <Check checked={draft.charts} onChange={(charts) => change({ charts })}>
      Draw charts if the question asks for them
    </Check>
    <Check checked={draft.notify} onChange={(notify) => change({ notify })}>
      Show a notification on the server’s desktop when it is done
    </Check>
    <div class="row">
      <label for="hours">Stop waiting after</label>
      <input
        id="hours"
        type="number"
        inputMode="numeric"
        min={1}
        max={MAX_HOURS}
        step={1}
        required
        value={Number.isNaN(draft.hours) ? "" : draft.hours}
        onInput={({ currentTarget }) => change({ hours: currentTarget.valueAsNumber })}
      />
      <span>hours</span>
    </div>
  </>
);

type WishName = keyof Wishes;

const LENGTHS = ["short", "medium", "long"];

/** The wishes with one of them changed, or without it if it is empty. */
function withWish(wishes: Wishes, name: WishName, value: string): Wishes {
  const { [name]: _before, ...others } = wishes;
  if (value.trim() === "") return others;
  const isList = name === "prefer_domains" || name === "avoid_domains";
  return { ...others, [name]: isList ? value.split(/[\s,]+/).filter((domain) => domain !== "") : value };
}

/** What few questions need: wishes about the answer, and how deep research runs. */
export function OptionFields({ draft, change }: Fields) {
  const { wishes } = draft;
  // Opened once: it must not close while its last field is emptied.
  const [isOpen] = useState(() => Object.keys(wishes).length > 0);
  const set = (name: WishName, value: string): void => change({ wishes: withWish(wishes, name, value) });
  const { length = "" } = wishes;
  return (
    <details class="options" open={isOpen}>
      <summary>Options</summary>
      <div class="stack tight">
        <p class="small quiet">The model is asked to follow these; the answer says how many of its sources do not.</p>
        <div class="wish-fields">
          <label for="wish-length">Length</label>
          <select id="wish-length" value={length} onChange={({ currentTarget }) => set("length", currentTarget.value)}>
            <option value="">as needed</option>
            {(length === "" || LENGTHS.includes(length) ? LENGTHS : [...LENGTHS, length]).map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
          <Wish name="language" label="Language" hint="that of the question" {...{ wishes, set }} />
          <Wish name="prefer_domains" label="Prefer sources from" hint="nature.com, who.int" {...{ wishes, set }} />
          <Wish name="avoid_domains" label="Avoid sources from" hint="example.com" {...{ wishes, set }} />
          <Wish name="since" label="Sources since" {...{ wishes, set }} />
          <Wish name="until" label="Sources until" {...{ wishes, set }} />
        </div>
        {isSearch(draft) ? null : <ResearchOptions draft={draft} change={change} />}
      </div>
    </details>
  );
}

interface WishProps {
  name: WishName;
  label: string;
  /** Of a text; without it, the wish is a date. */
  hint?: string;
  wishes: Wishes;
  set: (name: WishName, value: string) => void;
}

function Wish({ name, label, hint, wishes, set }: WishProps) {
  // Kept as typed: the list that it stands for has no comma at its end.
  const [typed, setTyped] = useState(() => [wishes[name] ?? []].flat().join(", "));
  const id = `wish-${name}`;
  const write = ({ currentTarget: { value } }: { currentTarget: HTMLInputElement }): void => {
    setTyped(value);
    set(name, value);
  };
  return (
    <>
      <label for={id}>{label}</label>
      {hint === undefined ? (
        <input id={id} type="date" value={typed} onInput={write} />
      ) : (
        <input id={id} type="text" placeholder={hint} value={typed} onInput={write} />
      )}
    </>
  );
}

const TYPES = ".pdf,.txt,.md,.markdown,.csv,.png,.jpg,.jpeg,.webp";
/** The server checks both again. */
const MAX_FILES = 10;
const MAX_FILES_BYTES = 9_000_000;

interface Attachments {
  files: readonly File[];
  onChange: (files: readonly File[]) => void;
}

export const AttachmentField = ({ files, onChange }: Attachments) => (
  <div class="stack tight">
    <div class="row">
      <label for="attachments">Files to send along</label>
      <input
        id="attachments"
        type="file"
        multiple
        accept={TYPES}
        aria-describedby="attachments-hint"
        onChange={({ currentTarget }) => {
          onChange([...files, ...(currentTarget.files ?? [])]);
          // So that a file that was removed can be chosen again.
          currentTarget.value = "";
        }}
      />
      <span id="attachments-hint" class="small quiet">
        PDF, text, Markdown, CSV or pictures, up to {MAX_FILES_BYTES / 1_000_000} MB. They are sent to Google.
      </span>
    </div>
    {files.length === 0 ? null : (
      <ul class="attachments">
        {files.map((file) => (
          <li key={`${file.name} ${file.size} ${file.lastModified}`} class="row">
            <span>
              {file.name} <span class="quiet small">{sizeText(file.size)}</span>
            </span>
            <button
              type="button"
              class="button plain small"
              aria-label={`Remove ${file.name}`}
              onClick={() => onChange(files.filter((other) => other !== file))}
            >
              Remove
            </button>
          </li>
        ))}
      </ul>
    )}
  </div>
);

const sizeText = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;

/** Returns why these files cannot be sent, or undefined. */
export function attachmentProblem(files: readonly File[]): string | undefined {
  if (files.length > MAX_FILES) return `At most ${MAX_FILES} files can be sent.`;
  const bytes = files.reduce((sum, file) => sum + file.size, 0);
  return bytes > MAX_FILES_BYTES ? `The files are larger than ${MAX_FILES_BYTES / 1_000_000} MB together.` : undefined;
}

export async function uploadsOf(files: readonly File[]): Promise<{ uploads?: Upload[] }> {
  if (files.length === 0) return {};
  return { uploads: await Promise.all(files.map(async (file) => ({ name: file.name, data: await base64Of(file) }))) };
}

function base64Of(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("error", () => reject(new Error("The file cannot be read.")));
    reader.addEventListener("load", () => {
      const url = typeof reader.result === "string" ? reader.result : "";
      resolve(url.slice(url.indexOf(",") + 1));
    });
    reader.readAsDataURL(file);
  });
}
