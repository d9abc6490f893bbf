/** Plays scenes, and compares each with its file; `--update` writes the files. */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CONVERSATIONS } from "./conversations.ts";
import { INSTALLATION } from "./installation.ts";
import { RESEARCH } from "./research.ts";
import { SEARCHES } from "./searches.ts";
import { openWorld } from "./world.ts";

const SCENES = { ...RESEARCH, ...SEARCHES, ...CONVERSATIONS, ...INSTALLATION };
const FOLDER = join(import.meta.dirname, "scenes");
/** Test files, which run at the same time: each has a clock of its own and every fourth scene. */
const PARTS = 4;

export function recordPart(part: number): void {
  const scenes = Object.entries(SCENES).filter((_, index) => index % PARTS === part - 1);
  test.for(scenes)("%s is as recorded", async ([name, { play, ...options }], context) => {
    const world = await openWorld(context, options);
    await play(world);
    await expect(await world.finish()).toMatchFileSnapshot(join(FOLDER, `${name}.txt`));
  });
}

export const namesOfScenes = (): string[] => Object.keys(SCENES).toSorted();
export const namesOfFiles = (): string[] =>
  readdirSync(FOLDER)
    .map((name) => name.replace(/\.txt$/, ""))
    .toSorted();
