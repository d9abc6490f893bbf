/** The run that a request names in its path or query, read for its owner. */

import type { Context } from "hono";
import { z } from "zod";
import type { App } from "../../app.ts";
import type { CallerEnv } from "../../caller.ts";
import { taskIdField } from "../../operations/operation.ts";
import { parseInput } from "../../operations/perform.ts";
import type { Run } from "../../runs/run.ts";

const runInput = z.object({ task_id: taskIdField });

export const requestedRun = (deps: App["deps"], context: Context<CallerEnv, "/api/runs/:id">): Promise<Run> =>
  ownedRun(deps, context.get("caller").owner, context.req.param("id"));

/** An id that is not a UUID is refused without a query. */
export const ownedRun = (deps: App["deps"], owner: string, id: string): Promise<Run> =>
  deps.findRun(owner, parseInput(runInput, { task_id: id }).task_id);
