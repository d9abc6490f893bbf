/** An unexpected error of an operation is logged with the id of its run. */

import { expect, test } from "vitest";
import { z } from "zod";
import { openApp } from "../../test/kit/store/operation-deps.ts";
import { UnexpectedRunError } from "../errors.ts";
import { createLog } from "../platform/log.ts";
import { defineOperation, taskIdField } from "./operation.ts";
import { perform } from "./perform.ts";

const RUN = "1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b";

test.each([
  ["the run that the call names", { task_id: RUN }, new TypeError("forced"), RUN],
  ["the run that it ended", {}, new UnexpectedRunError(RUN, new TypeError("forced")), RUN],
  ["no run where there is none", {}, new TypeError("forced"), undefined],
])("an unexpected error is logged with %s (A2)", async (_title, input, error, logged) => {
  const lines: string[] = [];
  const write = (line: string): void => void lines.push(line);
  const log = createLog({ from: "ERROR", format: "json", redact: (text) => text, write });
  const failing = defineOperation({
    name: "fail",
    title: "Fail",
    description: "Throws.",
    input: z.strictObject({ task_id: taskIdField.optional() }),
    output: z.looseObject({}),
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    positional: undefined,
    run: () => Promise.reject(error),
    toText: () => "",
  });
  const signal = new AbortController().signal;
  const call = { owner: "local", client: "a-client", from: "network", signal, progress: () => {} } as const;
  const { structured } = await perform(failing, { ...openApp().deps, log }, { input, call });
  expect(structured["error"]).toMatchObject({ code: "UNEXPECTED_ERROR" });
  const [{ message, task_id }] = lines.map((line) => JSON.parse(line));
  expect([lines.length, task_id]).toEqual([1, logged]);
  expect(message).toMatch(/^Unexpected error \w{8}: TypeError: forced\n +at /);
});
