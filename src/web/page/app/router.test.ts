import { expect, test } from "vitest";
import { alonePath, routeOf, runPath, viewKey } from "./router.ts";

const ID = "0f8fad5b-d9cb-469f-a165-70867728950e";
const route = (address: string) => routeOf(new URL(address, "http://localhost:3000"));

test.each([
  ["/", "home"],
  ["/?text=a", "home"],
  ["/start", "not-found"],
  ["/costs", "costs"],
  ["/notifications", "notifications"],
  [runPath(ID), "run"],
  [`${runPath(ID)}#source-3`, "run"],
  ["/runs/not-an-id", "not-found"],
  [`${runPath(ID)}/`, "not-found"],
  ["/api/runs", "not-found"],
  ["/runs/../costs", "costs"],
])("%s shows %s", (address, view) => {
  expect(route(address).view).toBe(view);
});

test("filters and positions within a view are the same view, another run is another", () => {
  expect(viewKey(route("/?text=a"))).toBe(viewKey(route("/?status=failed")));
  expect(viewKey(route(runPath(ID)))).not.toBe(viewKey(route(alonePath(ID))));
  expect(viewKey(route(runPath(ID)))).not.toBe(viewKey(route(runPath(ID.replace("0", "1")))));
});
