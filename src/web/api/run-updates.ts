/** All that happens to one run, told live: read from the store by its place, so that nothing is lost or told twice. */

import type { OperationDeps } from "../../operations/operation.ts";
import { isFinished, type Run } from "../../runs/run.ts";
import { milestones, type StoryEntry, storyAfter } from "../../runs/history/timeline.ts";
import { entryOf } from "./runs-routes.ts";
import { detailOf } from "./summary.ts";
import type { LiveEvents } from "../wire.ts";

/** False: it could not be said, because the reader lags. */
export type Say = <Name extends keyof LiveEvents>(name: Name, data: LiveEvents[Name], id?: number) => boolean;

const ENTRIES_AT_ONCE = 200;

export interface WatchedPlace {
  owner: string;
  taskId: string;
  /** The last event that the reader knows. */
  after: number;
}

interface Told {
  seq: number;
  milestones: Set<string>;
  /** As it was said last. */
  detail: string;
  /** Followed at Google on behalf of this reader: which interaction, and how to leave it. */
  followed: { interactionId: string; leave: () => void } | undefined;
}

/** Sends what is new at once, and then whenever `look` is called: the feed of changed runs says when. */
export function tellRun(deps: OperationDeps, place: WatchedPlace, say: Say): { look: () => void; stop: () => void } {
  const told: Told = { seq: place.after, milestones: new Set(), detail: "", followed: undefined };
  let stopped = false;
  let looking = false;
  let again = false;
  const look = async (): Promise<void> => {
    // One at a time: two that read the same place would tell it twice.
    again = looking;
    if (stopped || looking) return;
    looking = true;
    // A store that cannot be read shows in whatever the page asks next.
    await lookOnce(deps, { place, told, say }).catch(() => undefined);
    looking = false;
    if (stopped) told.followed?.leave();
    if (again) void look();
  };
  void look();
  return {
    look: () => void look(),
    stop: () => {
      stopped = true;
      told.followed?.leave();
    },
  };
}

interface Look {
  place: WatchedPlace;
  told: Told;
  say: Say;
}

async function lookOnce(deps: OperationDeps, { place, told, say }: Look): Promise<void> {
  const run = await deps.findRun(place.owner, place.taskId);
  await followAtGoogle(deps, run, told);
  await tellStory(deps, run, { told, say });
  const detail = await detailOf(deps, run);
  const text = JSON.stringify(detail);
  if (text !== told.detail && say("run", detail)) told.detail = text;
}

/** What could not be said is still there at the next look. */
async function tellStory(deps: OperationDeps, run: Run, { told, say }: Omit<Look, "place">): Promise<void> {
  const db = await deps.database();
  const later: StoryEntry[] = (await milestones(db, run)).filter(({ id }) => !told.milestones.has(id));
  const tellUntil = (at: number): boolean =>
    later.splice(0, later.findLastIndex((entry) => entry.at <= at) + 1).every((entry) => {
      const said = say("timeline", entryOf(entry), told.seq);
      if (said) told.milestones.add(entry.id);
      return said;
    });
  for (;;) {
    const entries = await storyAfter(db, run, { after: told.seq, limit: ENTRIES_AT_ONCE });
    for (const { seq, ...entry } of entries) {
      if (!tellUntil(entry.at) || !say("timeline", entryOf(entry), seq)) return;
      told.seq = seq;
    }
    if (entries.length < ENTRIES_AT_ONCE) break;
  }
  tellUntil(Infinity);
}

/** So that its thoughts come as it has them; without a key, or with a fault, the store is all there is. */
async function followAtGoogle(deps: OperationDeps, run: Run, told: Told): Promise<void> {
  const { taskId, interactionId, model: agent = "", createdAt, kind } = run;
  if (kind !== "agent" || interactionId === undefined || isFinished(run.status)) return;
  if (told.followed?.interactionId === interactionId) return;
  try {
    if ((await deps.agent()) === undefined) return;
    const { runner } = await deps.research();
    runner.start();
    const leave = runner.watch({ taskId, interactionId, agent, createdAt });
    // Too many are watched just now: the next look tries again.
    if (leave === undefined) return;
    told.followed?.leave();
    told.followed = { interactionId, leave };
  } catch {
    deps.log.debug("The run could not be followed from here.");
  }
}
