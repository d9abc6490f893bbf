import { expect, test } from "vitest";
import { AppError } from "../../errors.ts";
import { createStreamPermits } from "./stream-permits.ts";

function acquired(permit: (() => void) | AppError): () => void {
  if (permit instanceof AppError) throw permit;
  return permit;
}

test("a user has a limited number of streams, can reuse closed ones, and does not affect others (A9)", () => {
  const { acquire } = createStreamPermits({ perUser: 2, inAll: 5 });
  const [first] = [acquired(acquire("ann")), acquired(acquire("ann"))];
  expect(acquire("ann")).toMatchObject({ code: "BUSY" });
  for (const owner of ["bob", "bob", "eve"]) acquired(acquire(owner));
  expect(acquire("eve")).toMatchObject({ code: "BUSY", details: { status: 503 } });
  first?.();
  first?.();
  acquired(acquire("ann"));
  expect(acquire("ann")).toBeInstanceOf(AppError);
});
