/** Parsing single stream events: the pages that they name. */

import { expect, test } from "vitest";
import { readEvent } from "./reader.ts";

const eventId = "v1_e";
const delta = (fields: object): unknown => ({ event_type: "step.delta", event_id: eventId, index: 1, delta: fields });
const opened = (url: string) => ({ kind: "page", use: "opened", url, title: "", eventId });

test("opened pages are named by the result of the call, if they could be read (J3)", () => {
  const call = { type: "url_context_call", arguments: { urls: ["https://a.example/"] } };
  expect(readEvent(delta(call))).toEqual([]);
  const result = [
    { url: "https://a.example/", status: "success" },
    { url: "https://b.example/", status: "paywall" },
    { url: "https://c.example/", status: "error" },
    { url: "https://d.example/" },
    { status: "success" },
    null,
  ];
  expect(readEvent(delta({ type: "url_context_result", result }))).toEqual([
    opened("https://a.example/"),
    opened("https://d.example/"),
  ]);
});

test("pages that a report cites have a title, which may be null (J3)", () => {
  const annotations = [
    { type: "url_citation", url: "https://a.example/", title: "A", start_index: 0, end_index: 9 },
    { type: "url_citation", url: "https://b.example/", title: null },
    { type: "file_citation", url: "https://c.example/" },
  ];
  expect(readEvent(delta({ type: "text_annotation_delta", annotations }))).toEqual([
    { ...opened("https://a.example/"), use: "cited", title: "A" },
    { ...opened("https://b.example/"), use: "cited" },
  ]);
});

test("a search result names no page: it has search suggestions only (J3)", () => {
  const result = [{ search_suggestions: "<a href='https://www.google.com/search?q=x'>x</a>" }];
  expect(readEvent(delta({ type: "google_search_result", result, is_error: false }))).toEqual([]);
});

test("pages of one event are limited in number (A9)", () => {
  const result = Array.from({ length: 10_000 }, (_, index) => ({ url: `https://a.example/${index}` }));
  expect(readEvent(delta({ type: "url_context_result", result }))).toHaveLength(50);
});

test.each([
  { type: "url_context_call" },
  { type: "url_context_result", result: "none" },
  { type: "text_annotation_delta", annotations: {} },
  { type: "url_context_result", result: [[]] },
])("%o names no page (P4)", (fields) => {
  expect(readEvent(delta(fields))).toEqual([]);
});
