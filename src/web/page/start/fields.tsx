/** The form fields of a start: question, depth, options, and wishes about language, length and sources. */

import { useState } from "preact/hooks";
import type { Wishes } from "../../../search/wishes.ts";
import { Check } from "../ui/check.tsx";
import { DEPTHS, type KeptDraft, MAX_QUESTION_CHARACTERS, MAX_HOURS } from "./draft.ts";

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
          <TextWish name="language" label="Language" hint="that of the question" {...{ wishes, set }} />
          <TextWish name="prefer_domains" label="Prefer sources from" hint="nature.com, who.int" {...{ wishes, set }} />
          <TextWish name="avoid_domains" label="Avoid sources from" hint="example.com" {...{ wishes, set }} />
          <DateWish name="since" label="Sources since" {...{ wishes, set }} />
          <DateWish name="until" label="Sources until" {...{ wishes, set }} />
        </div>
      </div>
    </details>
  );
}

interface WishProps<Name extends WishName> {
  name: Name;
  label: string;
  wishes: Wishes;
  set: (name: WishName, value: string) => void;
}

type TextWishProps = WishProps<"language" | "prefer_domains" | "avoid_domains"> & { hint: string };

function TextWish({ name, label, hint, wishes, set }: TextWishProps) {
  // Kept as typed: the list that it stands for has no comma at its end.
  const [typed, setTyped] = useState(() => [wishes[name] ?? []].flat().join(", "));
  return (
    <>
      <label for={`wish-${name}`}>{label}</label>
      <input
        id={`wish-${name}`}
        type="text"
        placeholder={hint}
        value={typed}
        onInput={({ currentTarget: { value } }) => {
          setTyped(value);
          set(name, value);
        }}
      />
    </>
  );
}

const DateWish = ({ name, label, wishes, set }: WishProps<"since" | "until">) => (
  <>
    <label for={`wish-${name}`}>{label}</label>
    <input
      id={`wish-${name}`}
      type="date"
      value={wishes[name] ?? ""}
      onInput={({ currentTarget }) => set(name, currentTarget.value)}
    />
  </>
);
