import { expect, test } from "vitest";
import { parseTraceparent } from "./sdk.ts";
import { modelLabel } from "./telemetry.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

test("a traceparent is parsed as W3C defines it, flags and later versions included", () => {
  const parent = { traceId: TRACE, spanId: SPAN, isRemote: true };
  expect(parseTraceparent(`00-${TRACE}-${SPAN}-01`)).toEqual({ ...parent, traceFlags: 1 });
  expect(parseTraceparent(` 00-${TRACE}-${SPAN}-02 `)).toEqual({ ...parent, traceFlags: 0 });
  expect(parseTraceparent(`01-${TRACE}-${SPAN}-01-more`)).toEqual({ ...parent, traceFlags: 1 });
});

test.each([
  "",
  "00",
  `00-${TRACE}-${SPAN}-01-more`,
  `ff-${TRACE}-${SPAN}-01`,
  `00-${"0".repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${"0".repeat(16)}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${TRACE}${TRACE}-${SPAN}-01`,
])("an invalid traceparent is ignored: %s", (header) => {
  expect(parseTraceparent(header)).toBeUndefined();
});

test("only a name that looks like a Google model becomes a label", () => {
  expect(modelLabel("gemini-3-flash-preview")).toBe("gemini-3-flash-preview");
  expect(modelLabel("deep-research-max-preview-04-2026")).toBe("deep-research-max-preview-04-2026");
  for (const odd of [undefined, "", "my secret question", "gemini how do I", `gemini-${"x".repeat(80)}`])
    expect(modelLabel(odd)).toBe("other");
});
