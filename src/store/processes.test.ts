import { expect, test } from "vitest";
import { pollKeyOf } from "./processes.ts";

test("a run is polled with its key, whatever address a machine uses for Google, and without a key by its address (P3)", () => {
  const atGateway = pollKeyOf({ key: "k", baseUrl: "http://gateway.example" });
  expect(pollKeyOf({ key: "k", baseUrl: "" })).toBe(atGateway);
  expect(pollKeyOf({ key: "another", baseUrl: "" })).not.toBe(atGateway);
  const [one, other] = ["https://one.example", "https://other.example"].map((baseUrl) =>
    pollKeyOf({ key: undefined, baseUrl }),
  );
  expect(one).not.toBe(other);
});
