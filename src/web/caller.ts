/** Who asks, as the door in front of the page has found out. */

import type { Call } from "../operations/operation.ts";

export type WebCaller = Pick<Call, "owner" | "from">;

export interface WebEnv {
  Variables: { caller: WebCaller };
}
