/** The fields for wishes: language, length and sources of an answer. */

import { useState } from "preact/hooks";
import type { Wishes } from "../../../search/wishes.ts";
import type { KeptDraft } from "./draft.ts";

type WishName = keyof Wishes;

const LENGTHS = ["short", "medium", "long"];

/** The wishes with one of them changed, or without it if it is empty. */
function withWish(wishes: Wishes, name: WishName, value: string): Wishes {
  const { [name]: _before, ...others } = wishes;
  if (value.trim() === "") return others;
  const isList = name === "prefer_domains" || name === "avoid_domains";
  return { ...others, [name]: isList ? value.split(/[\s,]+/).filter((domain) => domain !== "") : value };
}

export function WishFields({ draft, change }: Pick<KeptDraft, "draft" | "change">) {
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
