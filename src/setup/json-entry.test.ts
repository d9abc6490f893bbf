import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AppError } from "../errors.ts";
import { jsonFormat } from "./json-entry.ts";

const path = { container: "mcpServers", name: "gemini-search" };
const entry = { command: "gemini-search-mcp", args: [], env: { GEMINI_API_KEY: "$GEMINI_API_KEY" } };
const config = (text: string) => ({ file: "/x/settings.json", text });
const set = (text: string): string => jsonFormat.set(config(text), path, entry);
const remove = (text: string): string => jsonFormat.remove(config(text), path);

/** Whether an edit only inserted text, keeping every character of the original in order. */
function isInsertion(before: string, after: string): boolean {
  let at = 0;
  for (const character of after) if (character === before[at]) at += character.length;
  return at === before.length;
}

const OTHERS = '"other": { "command": "x" /* mine */ }';

describe("an entry in JSON with comments", () => {
  test.each([
    ["an empty file", ""],
    ["an empty object", "{}"],
    ["an empty table", '{\n  "mcpServers": {}\n}\n'],
    ["an open empty table", '{\n  "mcpServers": {\n  }\n}\n'],
    ["a table with a remark only", '{\n  "mcpServers": {\n    // none yet\n  }\n}\n'],
    ["a remark at the last member", '{\n  "a": 1 // about a\n}\n'],
    ["a trailing comma and a remark", '{\r\n\t"a": 1, // about a\r\n}\r\n'],
    ["one line", '{"a":1,"mcpServers":{"b":{"command":"c"}}}'],
    ["one line with an empty table", '{"a":1,"mcpServers":{}}'],
    ["remarks everywhere", `/* 1 */ { // 2\n  "mcpServers": { // 3\n    ${OTHERS}, // 4\n  }, // 5\n} // 6\n`],
    ["four blanks", '{\n    "theme": "dark",\n    "mcpServers": {\n        "a": {}\n    }\n}'],
    ["a file of remarks", "// nothing yet\n"],
  ])("is added to %s, and nothing else is lost", (_what, text) => {
    const after = set(text);
    expect(jsonFormat.read(config(after), path)).toEqual(entry);
    expect(isInsertion(text, after)).toBe(true);
    expect(set(after)).toBe(after);
  });

  test("keeps comments beside what they are about, and follows the style of the file", () => {
    expect(set('{\r\n\t"a": 1, // about a\r\n}\r\n').split("\r\n")).toEqual([
      "{",
      '\t"a": 1, // about a',
      '\t"mcpServers": {',
      '\t\t"gemini-search": {',
      '\t\t\t"command": "gemini-search-mcp",',
      '\t\t\t"args": [],',
      '\t\t\t"env": {',
      '\t\t\t\t"GEMINI_API_KEY": "$GEMINI_API_KEY"',
      "\t\t\t}",
      "\t\t}",
      "\t},",
      "}",
      "",
    ]);
    expect(set('{\n  "a": 1 // about a\n}')).toContain('"a": 1, // about a\n');
    expect(set('{"a":1}')).toBe(`{"a":1,"mcpServers":{"gemini-search":${JSON.stringify(entry)}}}`);
  });

  test("is removed without a trace if there are other servers", () => {
    const beside = fc.record({
      indent: fc.constantFrom("  ", "    ", "\t"),
      lineEnd: fc.constantFrom("\n", "\r\n"),
      comma: fc.boolean(),
      remark: fc.constantFrom("", " // a remark, with { and }", ' /* "gemini-search": {} */'),
      names: fc.uniqueArray(fc.stringMatching(/^[a-z"\\ü]{1,6}$/), { minLength: 1, maxLength: 4 }),
      end: fc.constantFrom("", "\n", "\r\n\r\n"),
    });
    fc.assert(
      fc.property(beside, ({ indent, lineEnd, comma, remark, names, end }) => {
        const members = names.map((name) => `${indent}${indent}${JSON.stringify(name)}: { "command": "c" }`);
        const list = members.join(`,${remark}${lineEnd}`) + (comma ? "," : "") + remark;
        const text = `{${lineEnd}${indent}"mcpServers": {${lineEnd}${list}${lineEnd}${indent}}${lineEnd}}${end}`;
        const after = set(text);
        expect(jsonFormat.read(config(after), path)).toEqual(entry);
        expect(remove(after)).toBe(text);
      }),
    );
  });

  test("is not confused with keys that contain escapes", () => {
    const key = fc.stringMatching(/^["\\a]{2}$/);
    fc.assert(
      fc.property(fc.uniqueArray(key, { minLength: 2, maxLength: 4 }), (keys) => {
        const text = `{"mcpServers":{${keys.map((name) => `${JSON.stringify(name)}:{}`).join(",")}}}`;
        expect(remove(set(text))).toBe(text);
      }),
      { numRuns: 1_000 },
    );
  });

  test("is removed wherever it is", () => {
    const at = (before: string, after: string): string => `{"mcpServers": {${before}"gemini-search": {}${after}}}`;
    expect(remove(at("", ""))).toBe('{"mcpServers": {}}');
    expect(remove(at("", ', "b": {}'))).toBe('{"mcpServers": { "b": {}}}');
    expect(remove(at('"a": {}, ', ""))).toBe('{"mcpServers": {"a": {}}}');
    expect(remove(at('"a": {}, ', ', "b": {}'))).toBe('{"mcpServers": {"a": {}, "b": {}}}');
    expect(remove('{"a": 1}')).toBe('{"a": 1}');
  });

  test("has only its own value replaced if it differs", () => {
    const text =
      '{\n  "mcpServers": {\n    // mine\n    "gemini-search": {"command": "old"}, // yes\n    "b": {}\n  }\n}\n';
    const after = set(text);
    expect(after.startsWith('{\n  "mcpServers": {\n    // mine\n    "gemini-search": {\n      "command"')).toBe(true);
    expect(after.endsWith('\n    }, // yes\n    "b": {}\n  }\n}\n')).toBe(true);
  });

  test.each([
    ['{\n  "a": 1\n  "b": 2\n}', 3],
    ['{\n  "a": ', 2],
    ["[]", 1],
    ["not json", 1],
    ['{"mcpServers": {}} }', 1],
  ])("is not added to %j, which is refused with its line", (text, line) => {
    expect(() => set(text)).toThrow(AppError);
    expect(() => set(text)).toThrow(`/x/settings.json, line ${line}: `);
  });

  test("is refused in a server table of the wrong type, and if its name occurs twice", () => {
    expect(() => set('{"mcpServers": []}')).toThrow("not an object of servers");
    expect(() => remove('{"mcpServers": {"gemini-search": {}, "gemini-search": {}}}')).toThrow("cannot edit safely");
  });
});
