/** The form fields of a start: question, depth, and options. */

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
