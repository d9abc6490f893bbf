/** Texts of any size that are slow to parse and contain no answer. */

export const MEGABYTE = 1024 * 1024;

export const HOSTILE: Record<string, (size: number) => string> = {
  "opening braces": (size) => "{".repeat(size),
  "opening brackets": (size) => "[".repeat(size),
  "quotation marks": (size) => '"'.repeat(size),
  apostrophes: (size) => "'".repeat(size),
  backslashes: (size) => "\\".repeat(size),
  "json fences": (size) => "```json\n".repeat(size / 8),
  "bare fences": (size) => "```\n".repeat(size / 4),
  backticks: (size) => "`".repeat(size),
  "nested keys": (size) => '{"a":'.repeat(size / 5),
  "answers begun": (size) => '{"success":true,"report":"'.repeat(size / 26),
  "answers begun on lines": (size) => '{"success":true,"report":"\n'.repeat(size / 27),
  "report keys": (size) => '"report":"x",'.repeat(size / 13),
  "one report full of quotes": (size) => `{"success":true,"report":"${'" '.repeat(size / 2)}`,
  "one report full of ends": (size) => `{"success":true,"report":"${'"}, '.repeat(size / 4)}`,
  "comments begun": (size) => `{${"/*".repeat(size / 2)}`,
  entities: (size) => "&quot;".repeat(size / 6),
  "escaped quotes": (size) => '{\\"'.repeat(size / 3),
  spaces: (size) => " ".repeat(size),
  "line breaks": (size) => "\n".repeat(size),
  "closed nesting": (size) => '{"a":'.repeat(size / 6) + "1" + "}".repeat(size / 6),
  "small objects": (size) => '{"a":1} '.repeat(size / 8),
  "unclosed small objects": (size) => '{"a":"b" '.repeat(size / 9),
  "words and braces": (size) => "so {we} say ".repeat(size / 12),
};
