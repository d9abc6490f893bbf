/** The table of legal transitions. */

import { expect, test } from "vitest";
import {
  FOLLOWUP_CONTEXTS,
  isFinished,
  isIdle,
  LOCAL_KINDS,
  RUN_KINDS,
  RUN_STATUSES,
  STORED_STATUSES,
  statesBefore,
} from "./run.ts";

test("each state is entered from the states of the transition table only (P1)", () => {
  expect(Object.fromEntries(STORED_STATUSES.map((to) => [to, statesBefore(to)]))).toEqual({
    pending: [],
    running: ["pending"],
    running_async: ["pending", "running", "start_unknown"],
    start_unknown: ["pending", "cancelled"],
    completed: ["running", "running_async", "failed", "cancelled"],
    failed: ["pending", "running", "running_async", "start_unknown"],
    cancelled: ["pending", "running", "running_async", "start_unknown"],
  });
});

test("a completed run stays completed; a failed or cancelled one may still complete, and a cancelled start become unknown (P1)", () => {
  const next = (from: string) => STORED_STATUSES.filter((to) => statesBefore(to).some((source) => source === from));
  expect(STORED_STATUSES.filter(isFinished)).toEqual(["completed", "failed", "cancelled"]);
  expect(next("completed")).toEqual([]);
  expect(next("failed")).toEqual(["completed"]);
  expect(next("cancelled")).toEqual(["start_unknown", "completed"]);
});

test("nothing happens to a run that has ended or waits for approval until its user acts (V2)", () => {
  expect(RUN_STATUSES.filter(isIdle)).toEqual(["awaiting_approval", "completed", "failed", "cancelled"]);
});

test("the context of a follow-up keeps the names under which it is stored (V1)", () => {
  expect(FOLLOWUP_CONTEXTS).toEqual(["google", "stored_report"]);
});

test("only agent runs outlive the process that started them (P1)", () => {
  expect(RUN_KINDS.filter((kind) => !LOCAL_KINDS.includes(kind))).toEqual(["agent"]);
  expect(LOCAL_KINDS).toEqual(["search", "deep_search", "deep_research"]);
});
