import { expect, test } from "vitest";
import { pageUrl } from "../../http/host-guard.ts";
import { linkTo, portOf } from "./dashboard-link.ts";

test("the port of an address is known even if it is the default port of http (A9)", () => {
  expect(portOf(linkTo("/enter/code", { url: pageUrl("127.0.0.1", 80) }))).toBe(80);
  expect(portOf(linkTo("/enter/code", { url: pageUrl("::", 3000) }))).toBe(3000);
});
