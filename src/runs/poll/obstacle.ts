/** What keeps a run from being polled at the moment, and the columns it is stored in. */

import { z } from "zod";
import type { AppError, FailureReason } from "../../errors.ts";

const OBSTACLES = [
  "unreachable",
  "failing",
  "unreadable",
  "billing",
  "location",
  "credentials",
  "missing",
  "forbidden",
  "rejected",
  "too_long",
  "other_key",
  "other_address",
] as const;

export interface Obstacle {
  kind: (typeof OBSTACLES)[number];
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

interface ObstacleColumns {
  obstacle: string | null;
  obstacle_setting: string | null;
}

export const obstacleColumns = (obstacle: Obstacle | undefined): ObstacleColumns => ({
  obstacle: obstacle?.kind ?? null,
  obstacle_setting: obstacle?.setting ?? null,
});

const storedKind = z.enum(OBSTACLES).nullable();

export function obstacleOf(row: ObstacleColumns): Obstacle | undefined {
  const kind = storedKind.parse(row.obstacle);
  return kind === null ? undefined : { kind, setting: row.obstacle_setting ?? undefined };
}
