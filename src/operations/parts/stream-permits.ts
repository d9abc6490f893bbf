/** Bounds the number of open event streams, per user and in total, so that no user can take all of them. */

import { AppError } from "../../errors.ts";

interface StreamLimits {
  perUser: number;
  inAll: number;
}

/** Each stream holds a connection and a watch on the store. */
export const STREAM_LIMITS: StreamLimits = { perUser: 100, inAll: 1_000 };

export interface StreamPermits {
  /** Returns the function that releases the permit, or the error why there is none. */
  acquire(owner: string): (() => void) | AppError;
}

export function createStreamPermits({ perUser, inAll }: StreamLimits): StreamPermits {
  const open = new Map<string, number>();
  let total = 0;
  const change = (owner: string, by: number): void => {
    total += by;
    const count = (open.get(owner) ?? 0) + by;
    if (count === 0) open.delete(owner);
    else open.set(owner, count);
  };
  return {
    acquire: (owner) => {
      if ((open.get(owner) ?? 0) >= perUser) return tooManyOfUser(perUser);
      if (total >= inAll) return tooManyInAll(inAll);
      change(owner, 1);
      let isReleased = false;
      return () => {
        if (!isReleased) change(owner, -1);
        isReleased = true;
      };
    },
  };
}

const streams = (count: number): string => `${count} open ${count === 1 ? "stream" : "streams"}`;

const tooManyOfUser = (max: number): AppError =>
  new AppError({
    code: "BUSY",
    message: `You already have ${streams(max)}, the maximum for one user.`,
    suggestion: "Close some windows of the page, or some clients.",
    retryable: true,
  });

const tooManyInAll = (max: number): AppError =>
  new AppError({
    code: "BUSY",
    message: `This server has ${streams(max)}, its maximum.`,
    suggestion: "Try again later.",
    details: { status: 503 },
    retryable: true,
  });
