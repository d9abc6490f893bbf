import { expect, test } from "vitest";
import { AppError } from "../../errors.ts";
import { createStreamPermits } from "./stream-permits.ts";

function acquired(permit: (() => void) | AppError): () => void {
  if (permit instanceof AppError) throw permit;
  return permit;
}

test("a user gets at most the configured number of streams, and closed ones free their permits (A9)", () => {
  const { acquire } = createStreamPermits({ perUser: 2, inAll: 5 });
  const [first] = [acquired(acquire("ann")), acquired(acquire("ann"))];
  expect(acquire("ann")).toMatchObject({ code: "RATE_LIMITED" });
  for (const owner of ["bob", "bob", "eve"]) acquired(acquire(owner));
  expect(acquire("eve")).toMatchObject({ code: "BUSY", details: { status: 503 } });
  first?.();
  first?.();
  acquired(acquire("ann"));
  expect(acquire("ann")).toBeInstanceOf(AppError);
});

test("one user never gets more than half of all streams, whatever is configured (A9)", () => {
  const { acquire } = createStreamPermits({ perUser: 1_000, inAll: 4 });
  for (const owner of ["ann", "ann", "bob", "bob"]) acquired(acquire(owner));
  const other = createStreamPermits({ perUser: 1_000, inAll: 4 });
  for (let count = 0; count < 2; count += 1) acquired(other.acquire("ann"));
  expect(other.acquire("ann")).toMatchObject({ code: "RATE_LIMITED" });
  acquired(other.acquire("bob"));
});
