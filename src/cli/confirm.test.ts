import { describe, expect, test } from "vitest";
import { saysYes } from "./confirm.ts";

describe("the answer at the terminal", () => {
  test.each(["y", "Y", "yes", "YES", " yes ", "y\r"])("%j is a yes", (answer) => {
    expect(saysYes(answer)).toBe(true);
  });

  test.each(["", " ", "n", "no", "yess", "ye", "yn", "ja", "1", "true", "y y", "\u0004"])("%j is a no", (answer) => {
    expect(saysYes(answer)).toBe(false);
  });
});
