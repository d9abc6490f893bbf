import { expect, test } from "vitest";
import { namesOfFiles, namesOfScenes, recordPart } from "./scenes.ts";

recordPart(1);

test("every file belongs to a scene", () => {
  expect(namesOfScenes()).toEqual(expect.arrayContaining(namesOfFiles()));
});
