/** What keeps a run from being polled at the moment, and the columns it is stored in. */

import type { AppError, FailureReason } from "../../errors.ts";
import type { Tables } from "../../store/database.ts";

type ObstacleColumns = Pick<Tables["research_tasks"], "obstacle" | "obstacle_setting">;

export interface Obstacle {
  kind: NonNullable<ObstacleColumns["obstacle"]>;
  /** What the run was started with: the first digits of its key's SHA-256, or an address that is not Google's own. */
  setting?: string | undefined;
}

const BY_REASON: Partial<Record<FailureReason, Obstacle["kind"]>> = {
  overloaded: "failing",
  not_google: "unreadable",
  billing: "billing",
  location: "location",
  credentials: "credentials",
  input: "rejected",
  config: "rejected",
};

export const obstacleBehind = ({ reason = "network" }: AppError): Obstacle => ({
  kind: BY_REASON[reason] ?? "unreachable",
});

export const obstacleColumns = (obstacle: Obstacle | undefined): ObstacleColumns => ({
  obstacle: obstacle?.kind ?? null,
  obstacle_setting: obstacle?.setting ?? null,
});

export function obstacleOf({ obstacle: kind, obstacle_setting: setting }: ObstacleColumns): Obstacle | undefined {
  return kind === null ? undefined : { kind, setting: setting ?? undefined };
}
