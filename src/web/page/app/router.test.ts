import { expect, test } from "vitest";
import { placeOf, runPath, viewKey } from "./router.ts";

const ID = "0f8fad5b-d9cb-469f-a165-70867728950e";
const place = (address: string) => placeOf(new URL(address, "http://localhost:3000"));

test.each([
  ["/", "runs"],
  ["/?text=a", "runs"],
  ["/start", "start"],
  ["/figures", "figures"],
  [runPath(ID), "run"],
  [`${runPath(ID)}#source-3`, "run"],
  ["/runs/not-an-id", "nowhere"],
  [`${runPath(ID)}/`, "nowhere"],
  ["/api/runs", "nowhere"],
  ["/runs/../start", "start"],
])("%s shows %s", (address, view) => {
  expect(place(address).view).toBe(view);
});

test("filters and positions within a view are the same view, another run is another", () => {
  expect(viewKey(place("/?text=a"))).toBe(viewKey(place("/?status=failed")));
  expect(viewKey(place(runPath(ID)))).not.toBe(viewKey(place(runPath(ID.replace("0", "1")))));
});
