/** The form fields of a start: question, depth, files, options, and wishes about language, length and sources. */

import { useState } from "preact/hooks";
import type { Wishes } from "../../../search/wishes.ts";
import { Check } from "../ui/forms.tsx";
import { DEPTHS, type KeptDraft, MAX_HOURS, MAX_QUESTION_CHARACTERS } from "./draft.ts";
import type { Upload } from "../../wire.ts";

type Fields = Pick<KeptDraft, "draft" | "change">;

export function QuestionField({ draft, change }: Fields) {
  const { length } = draft.query.trim();
  const tooLong = length > MAX_QUESTION_CHARACTERS;
  return (
    <div class="stack tight">
      <label for="question">Question</label>
      <textarea
        id="question"
        rows={7}
        required
        aria-invalid={tooLong}
        aria-describedby="question-hint question-count"
        value={draft.query}
        onInput={({ currentTarget }) => change({ query: currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          event.currentTarget.form?.requestSubmit();
        }}
      />
      <div class="row apart small quiet">
        <span id="question-hint">What do you want to know? Add purpose, time frame and region if they matter.</span>
        <span id="question-count" class={tooLong ? "too-long" : undefined}>
          {length.toLocaleString("en-US")} / {MAX_QUESTION_CHARACTERS.toLocaleString("en-US")}
        </span>
      </div>
    </div>
  );
}

export const DepthField = ({ draft, change }: Fields) => (
  <fieldset class="stack tight">
    <legend>Depth</legend>
    <div class="depths">
      {DEPTHS.map(({ depth, name, about, price }) => (
        <label key={depth} class="card depth">
          <input
            type="radio"
            name="depth"
            value={depth}
            checked={draft.depth === depth}
            onChange={() => change({ depth })}
          />
          <span>
            <strong>{name}</strong>
            <span class="small">{about}</span>
            <span class="small quiet">{price}</span>
          </span>
        </label>
      ))}
    </div>
  </fieldset>
);

export const OptionFields = ({ draft, change }: Fields) => (
  <div class="stack tight">
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
    <Check checked={draft.plan} onChange={(plan) => change({ plan })}>
      Show me the plan first: you can change it, and pay for the research when you start it
    </Check>
    <Check checked={draft.charts} onChange={(charts) => change({ charts })}>
      Draw charts if the question asks for them
    </Check>
    <Check checked={draft.notify} onChange={(notify) => change({ notify })}>
      Show a notification on the server’s desktop when it is done
    </Check>
  </div>
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

export function WishFields({ draft, change }: Fields) {
  const { wishes } = draft;
  // Opened once: it must not close while its last field is emptied.
  const [isOpen] = useState(() => Object.keys(wishes).length > 0);
  const set = (name: WishName, value: string): void => change({ wishes: withWish(wishes, name, value) });
  const { length = "" } = wishes;
  return (
    <details class="wishes" open={isOpen}>
      <summary>Options</summary>
      <div class="stack tight">
        <p class="small quiet">Asked of the model, not enforced; the answer says how many sources are outside.</p>
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
