import { posix, win32 } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isInside } from "./allowed-root.ts";
import { monthFolder, namePart, reportFileName, titledFileName } from "./file-name.ts";

const TASK = "3f2b8c1e-9a4d-4f6b-8e2a-1c5d7e9f0a2b";
const NOW = Date.parse("2026-11-05T04:03:02.999Z");

/** Prefixes, by the attack that they try. */
const PAYLOADS = Object.values({
  up: ["..", "../", "../../etc/passwd", "a/../../b", "./../x", "....//", "..;/", "..\\", "..\\..\\win", "a\\..\\..\\b"],
  absolute: ["/", "/etc/cron.d/x", "//host/share", "\\\\host\\share", "\\\\?\\C:\\x", "\\\\.\\PhysicalDrive0", "C:\\x"],
  elsewhere: ["~", "~/x", "~root", "C:", "C:x", "c:/x", "file:///etc/passwd", "http://evil/x"],
  encoded: ["%2e%2e%2f", "%2e%2e/", "..%2f", "..%5c", "%252e%252e%252f", "..%c0%af"],
  lookalike: ["．．／", "‥/", "∕..∕", "⁄", "＼..＼", "。。"],
  devices: ["CON", "con", "NUL", "PRN", "AUX", "COM1", "LPT9", "COM¹", "CONIN$", "nul.txt", "CON ", "a:b", "x::$DATA"],
  dots: [".", "...", ".hidden", "name.", "name ", " name", "name...", "", " ", "\t"],
  options: ["-rf", "--help", "-".repeat(5_000)],
  control: ["a\0b", "\0", "a\nb", "a\rb", "a\u001b[31m", "a\u007F"],
  invisible: ["a\u202Egnp.md", "\u2066x", "a\u200Bb", "\uFEFFx", "\uD800", "a\u115F\u3164b", "a\u034Fb", "a\uFE0F"],
  shell: ["$(id)", "`id`", "a;b", "a|b", "a&b", "*", "?", "<x>", '"q"', "'q'", "%PATH%", "${HOME}"],
  length: ["a".repeat(300), "é".repeat(300), "𝒳".repeat(300)],
  composition: ["e\u0301", "\u0301\u0301", "日本語"],
}).flat();

test("the list of hostile prefixes is long enough (N2, T10)", () => {
  expect(new Set(PAYLOADS).size).toBeGreaterThanOrEqual(80);
});

const RESERVED = /^(?:CON|PRN|AUX|NUL|COM[0-9¹²³]|LPT[0-9¹²³]|CONIN\$|CONOUT\$)$/i;

function expectOneName(name: string): void {
  for (const [paths, root] of [
    [posix, "/srv/reports"],
    [win32, "C:\\srv\\reports"],
  ] as const) {
    const file = paths.join(root, "2026-11", name);
    expect(paths.basename(file)).toBe(name);
    expect(paths.relative(root, file)).toBe(`2026-11${paths.sep}${name}`);
    expect(isInside(root, file, paths)).toBe(true);
  }
  expect(name).toMatch(/^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_-]*_20261105_040302\.md$/u);
  expect(name.split(".")[0]).not.toMatch(RESERVED);
  expect(name).not.toMatch(/\p{Default_Ignorable_Code_Point}/u);
  expect(Buffer.byteLength(name)).toBeLessThan(200);
  expect(name).toBe(name.normalize("NFC"));
}

test.each(PAYLOADS.map((payload) => [JSON.stringify(payload).slice(0, 40), payload] as const))(
  "prefix %s stays one plain name on posix and win32 (N2, T10)",
  (_shown, prefix) => {
    expectOneName(reportFileName({ prefix, taskId: TASK, now: NOW }, 1));
    expectOneName(reportFileName({ prefix: "research", taskId: prefix, now: NOW }, 1));
  },
);

test("any text as a prefix stays one plain name (N2, T10)", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), (prefix) => {
      expectOneName(reportFileName({ prefix, taskId: TASK, now: NOW }, 1));
    }),
    { numRuns: 2_000 },
  );
});

describe("the file name", () => {
  test("has prefix, full task id and UTC time; a taken name gets a number (N1)", () => {
    const name = { prefix: "research", taskId: TASK, now: NOW };
    expect(reportFileName(name, 1)).toBe(`research_${TASK}_20261105_040302.md`);
    expect(reportFileName(name, 2)).toBe(`research_${TASK}_20261105_040302_2.md`);
    expect(reportFileName(name, 13)).toBe(`research_${TASK}_20261105_040302_13.md`);
    expect(monthFolder(NOW)).toBe("2026-11");
  });

  test("keeps what is harmless in a prefix (N2)", () => {
    expect(namePart("Wärmepumpen_2026-v2")).toBe("Wärmepumpen_2026-v2");
    expect(namePart("heat pumps / boilers")).toBe("heat-pumps-boilers");
    expect(namePart("हिन्दी")).toBe("हिन्दी");
    expect(namePart("e\u0301")).toBe("é");
    expect(namePart("../..")).toBe("");
  });

  test("has a prefix of at most 100 bytes, cut between characters, without a trailing separator (N2)", () => {
    expect(namePart("a".repeat(101))).toBe("a".repeat(100));
    expect(namePart("é".repeat(51))).toBe("é".repeat(50));
    expect(namePart(`a${"é".repeat(51)}`)).toBe(`a${"é".repeat(49)}`);
    expect(namePart(`${"a".repeat(99)} b`)).toBe("a".repeat(99));
    expect(namePart("really?! --")).toBe("really");
    expect(namePart(`${"-".repeat(1_000)}too late`)).toBe("");
  });

  test("has a default for a prefix of which nothing is left (N1)", () => {
    expect(reportFileName({ prefix: "../", taskId: "..", now: NOW }, 1)).toBe("research_run_20261105_040302.md");
  });
});

describe("a title as a file name", () => {
  const named = (title: string, number = 1): string => titledFileName({ title, ending: "md" }, number);

  test("is the title without what a system, a shell or a link would read (N6)", () => {
    expect(named("Heat pumps in cold climates")).toBe("Heat pumps in cold climates.md");
    expect(named("Heat pumps in cold climates", 2)).toBe("Heat pumps in cold climates (2).md");
    expect(named('What is "A/B": 5 °C * <x>?')).toBe("What is A B 5 C x.md");
    expect(named("Wärmepumpen – 2026 (Entwurf)")).toBe("Wärmepumpen – 2026 (Entwurf).md");
    expect(named("con")).toBe("Report con.md");
    expect(named("nul .txt")).toBe("Report nul .txt.md");
    expect(named("../..")).toBe("Report.md");
    expect(named("ends. ")).toBe("ends.md");
  });

  test("has at most 100 bytes before its number, and ends with a whole word (N6)", () => {
    expect(named(`${"word ".repeat(19)}overflowing`)).toBe(`${"word ".repeat(19).trim()}.md`);
    expect(named("é".repeat(60))).toBe(`${"é".repeat(50)}.md`);
  });

  test("any text is one visible name on posix and win32 (N6, T10)", () => {
    const check = (title: string): void => {
      const name = named(title);
      for (const [paths, root] of [
        [posix, "/srv/reports"],
        [win32, "C:\\srv\\reports"],
      ] as const)
        expect(paths.relative(root, paths.join(root, name))).toBe(name);
      expect(name).toMatch(/^[\p{L}\p{N}_(&+’][^\p{C}<>:"/\\|?*]*\.md$/u);
      expect(name).not.toMatch(/\p{Default_Ignorable_Code_Point}|[\s.]\.md$/u);
      expect((name.split(".")[0] ?? "").trim()).not.toMatch(RESERVED);
      expect(Buffer.byteLength(name)).toBeLessThan(120);
    };
    PAYLOADS.forEach(check);
    fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 200 }), check), { numRuns: 2_000 });
  });
});

describe("inside a root", () => {
  test.each([
    [posix, "/out", "/out", true],
    [posix, "/out", "/out/2026-11", true],
    [posix, "/out", "/out/..x", true],
    [posix, "/out", "/out-evil", false],
    [posix, "/out", "/out-evil/x", false],
    [posix, "/out", "/", false],
    [posix, "/out", "/out/../etc", false],
    [posix, "/", "/etc", true],
    [win32, "C:\\out", "C:\\out\\x", true],
    [win32, "C:\\out", "c:\\OUT\\x", true],
    [win32, "C:\\out", "C:\\out-evil", false],
    [win32, "C:\\out", "D:\\out\\x", false],
    [win32, "C:\\out", "\\\\host\\share\\x", false],
    [win32, "C:\\out", "C:\\out\\..\\x", false],
  ] as const)("a path leads out of it or not: case %# (T10)", (paths, root, target, inside) => {
    expect(isInside(root, target, paths)).toBe(inside);
  });
});
