import { describe, expect, test } from "vitest";
import { countOccurrences, isBeforeEnd, nextOccurrence, type Rule } from "./calendar.ts";

const BERLIN = { time_zone: "Europe/Berlin", at: "07:00" };

function occurrences(rule: Rule, after: string, count: number): string[] {
  const found: string[] = [];
  for (let at = Date.parse(after); found.length < count;) {
    const next = nextOccurrence(rule, at);
    if (next === undefined) break;
    found.push(new Date(next).toISOString().slice(0, 16));
    at = next;
  }
  return found;
}

describe("the time zone", () => {
  test("keeps the time of day when the clocks change (I16)", () => {
    expect(occurrences({ every: "week", weekday: "sunday", ...BERLIN }, "2027-03-15T00:00Z", 3)).toEqual([
      "2027-03-21T06:00",
      "2027-03-28T05:00",
      "2027-04-04T05:00",
    ]);
    expect(occurrences({ every: "day", ...BERLIN }, "2027-10-30T00:00Z", 3)).toEqual([
      "2027-10-30T05:00",
      "2027-10-31T06:00",
      "2027-11-01T06:00",
    ]);
  });

  test("a time that is left out in spring is due at the end of the gap, once (I16)", () => {
    const rule: Rule = { every: "day", ...BERLIN, at: "02:30" };
    expect(occurrences(rule, "2027-03-27T12:00Z", 2)).toEqual(["2027-03-28T01:00", "2027-03-29T00:30"]);
    // Where midnight itself is left out.
    const inChile: Rule = { every: "day", at: "00:30", time_zone: "America/Santiago" };
    expect(occurrences(inChile, "2027-09-04T12:00Z", 2)).toEqual(["2027-09-05T04:00", "2027-09-06T03:30"]);
  });

  test("a time that is repeated in autumn is due once, the first time (I16)", () => {
    const rule: Rule = { every: "day", ...BERLIN, at: "02:30" };
    expect(occurrences(rule, "2027-10-30T12:00Z", 2)).toEqual(["2027-10-31T00:30", "2027-11-01T01:30"]);
    // Between the two.
    expect(occurrences(rule, "2027-10-31T00:45Z", 1)).toEqual(["2027-11-01T01:30"]);
  });
});

test("a day that a month does not have is its last day (I16)", () => {
  const days = (day: number, after = "2027-01-01T00:00Z"): string[] =>
    occurrences({ every: "month", day, ...BERLIN }, after, 4).map((at) => at.slice(0, 10));
  expect(days(31)).toEqual(["2027-01-31", "2027-02-28", "2027-03-31", "2027-04-30"]);
  expect(days(30)).toEqual(["2027-01-30", "2027-02-28", "2027-03-30", "2027-04-30"]);
  expect(days(29)).toEqual(["2027-01-29", "2027-02-28", "2027-03-29", "2027-04-29"]);
  expect(days(29, "2028-02-01T00:00Z").slice(0, 2)).toEqual(["2028-02-29", "2028-03-29"]);
  expect(days(1)).toEqual(["2027-01-01", "2027-02-01", "2027-03-01", "2027-04-01"]);
});

test("nothing is due after the last day, which is included (I15)", () => {
  const rule: Rule = { every: "day", ...BERLIN, until: "2027-03-02" };
  expect(occurrences(rule, "2027-03-01T00:00Z", 9)).toEqual(["2027-03-01T06:00", "2027-03-02T06:00"]);
  expect(countOccurrences(rule, Date.parse("2027-03-01T00:00Z"), 9)).toBe(2);
  expect(countOccurrences({ every: "day", ...BERLIN }, 0, 9)).toBe(9);
  // The day is that of the time zone.
  expect(isBeforeEnd(rule, Date.parse("2027-03-02T22:59Z"))).toBe(true);
  expect(isBeforeEnd(rule, Date.parse("2027-03-02T23:01Z"))).toBe(false);
});
