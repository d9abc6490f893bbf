import { expect, test } from "vitest";
import { withNamedSources } from "./stored-rounds.ts";

const URLS = ["https://iea.org/1", "https://vertexaisearch.cloud.google.com/x", "https://iea.org/2"];
const SOURCES = URLS.map((url, index) => ({
  n: index + 1,
  url,
  title: "",
  domain: ["iea.org", "who.int", "iea.org"][index] ?? "",
}));

const roundsIn = (round: object): unknown =>
  withNamedSources({ sources_visited: URLS, rounds: [{ round_number: 1, ...round, search_queries: [] }] }, SOURCES)[
    "rounds"
  ];

const NAMED = {
  round_number: 1,
  sources_visited: ["iea.org", "who.int", "iea.org"],
  source_numbers: [1, 2, 3],
  search_queries: [],
};

test.each([
  ["numbers", { sources_visited: [1, 2, 3] }],
  ["URLs", { sources_visited: URLS }],
  ["sites and numbers", { sources_visited: NAMED.sources_visited, source_numbers: NAMED.source_numbers }],
])("rounds that were stored with %s are answered with sites and numbers (G4)", (_name, stored) => {
  expect(roundsIn(stored)).toEqual([NAMED]);
});
