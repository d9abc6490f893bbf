/** Without a Gemini API key: the form that saves one, or a hint where it can be set. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { KeyView } from "../../wire.ts";
import { fetchJson, postJson, RefusedError } from "../app/request.ts";
import { useSending } from "../ui/forms.tsx";
import { announce, Problem, useLoad } from "../ui/parts.tsx";

interface KeyState {
  view: KeyView | undefined;
  saved: () => void;
}

export function useKey(): KeyState {
  const { value, update } = useLoad("key", (signal) => fetchJson<KeyView>("/api/key", { signal }));
  return { view: value, saved: () => update(() => ({ is_missing: false })) };
}

export function KeyForm({ view, saved }: KeyState) {
  const [typed, setTyped] = useState("");
  const { pending, error, send } = useSending<"save">();
  const field = useRef<HTMLInputElement>(null);
  // The question can wait, unless it is being written.
  useEffect(() => {
    const writing = document.querySelector<HTMLTextAreaElement>("#question")?.value ?? "";
    if (writing === "" && matchMedia("(pointer: fine)").matches) field.current?.focus({ preventScroll: true });
  }, [view?.file]);
  if (view?.is_missing !== true) return null;
  const isUntestable = error instanceof RefusedError && error.code === "GEMINI_UNAVAILABLE";
  const save = async (): Promise<void> => {
    await postJson<KeyView>("/api/key", { key: typed.trim(), untested: isUntestable });
    announce("The key is saved.");
    saved();
    document.querySelector<HTMLElement>("#question")?.focus();
  };
  return (
    <section class="card stack tight" aria-labelledby="key-title">
      <h2 id="key-title">Add your Gemini API key</h2>
      {view.file === undefined ? (
        <p>
          This server has no key, so nothing can be asked yet. On its own machine, open this page or run{" "}
          <code>gemini-search-mcp init</code>.
        </p>
      ) : (
        <form
          class="stack tight"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            if (typed.trim() !== "") void send("save", save);
          }}
        >
          <p>
            Questions are answered by Google and charged to your key.{" "}
            <a href="https://aistudio.google.com/apikey" target="_blank" rel="noopener noreferrer">
              Get one from Google AI Studio<span class="unseen"> (opens in a new tab)</span>
            </a>
            ; deep research needs a paid plan.
          </p>
          <div class="row">
            <label for="key">API key</label>
            <input
              id="key"
              ref={field}
              class="grow"
              type="password"
              autocomplete="off"
              spellcheck={false}
              maxLength={200}
              aria-describedby="key-file"
              value={typed}
              onInput={({ currentTarget }) => setTyped(currentTarget.value)}
            />
            <button type="submit" class="button primary" disabled={typed.trim() === "" || pending !== undefined}>
              {pending !== undefined ? "Testing…" : isUntestable ? "Save it anyway" : "Test and save"}
            </button>
          </div>
          <p id="key-file" class="quiet small">
            Tested with a free request, then saved in <code>{view.file}</code>, readable only by you.
          </p>
          <Problem error={error} />
        </form>
      )}
    </section>
  );
}
