/** The first view: the question, and below it the conversations so far. */

import { KeyForm, useKey } from "./start/key.tsx";
import { StartForm } from "./start/view.tsx";
import { RunsList } from "./runs/view.tsx";
import { readFilter } from "./runs/list.ts";

export function HomeView({ filter: parameters }: { filter: URLSearchParams }) {
  const filter = readFilter(parameters);
  // A search or another page of the list is read, not written to.
  const isListRead = Object.values(filter).some((value) => value !== "");
  const key = useKey();
  return (
    <div class="home stack">
      <KeyForm {...key} />
      <StartForm focused={!isListRead} isKeyMissing={key.view?.is_missing === true} />
      <RunsList filter={filter} />
    </div>
  );
}
