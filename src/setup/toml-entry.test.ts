import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { tomlFormat } from "./toml-entry.ts";

const path = { container: "mcp_servers", name: "gemini-search" };
const entry = { command: "gemini-search-mcp", args: [], env_vars: ["GEMINI_API_KEY"], tool_timeout_sec: 1800 };
const config = (text: string) => ({ file: "/x/config.toml", text });
const set = (text: string): string => tomlFormat.set(config(text), path, entry);
const remove = (text: string): string => tomlFormat.remove(config(text), path);

const TABLE = `[mcp_servers.gemini-search]
command = "gemini-search-mcp"
args = []
env_vars = [ "GEMINI_API_KEY" ]
tool_timeout_sec = 1800`;

describe("an entry in TOML", () => {
  test("is added at the end, after a blank line, with the line ends of the file", () => {
    expect(set('model = "x"\n')).toBe(`model = "x"\n\n${TABLE}\n`);
    expect(set('model = "x"\r\n')).toBe(`model = "x"\r\n\r\n${TABLE.replaceAll("\n", "\r\n")}\r\n`);
    expect(set("")).toBe(`${TABLE}\n`);
  });

  test("changes no other byte, and its removal restores the bytes", () => {
    const line = fc.constantFrom(
      "",
      "# a remark, [mcp_servers.gemini-search] in it",
      "[a]",
      "[[list]]",
      "[mcp_servers.other]",
      '[mcp_servers."gemini-search2"] # not ours',
      "[mcp_servers.other.env]",
    );
    const key = fc.constantFrom(
      'v = "x"',
      "v = 'y' # z",
      "v = [\n  1,\n  2,\n]",
      'v = """\nno [header]\n"""',
      "v = 1979-05-27",
    );
    const block = fc.tuple(line, key).map(([header, value]) => `${header}\n${header.startsWith("[") ? value : ""}`);
    const text = fc
      .tuple(
        fc.uniqueArray(block, { selector: (lines) => lines.split("\n")[0], maxLength: 5 }),
        fc.constantFrom("", "\n", "\n\n"),
      )
      .map(([blocks, end]) => blocks.join("\n") + end)
      .chain((plain) => fc.constantFrom(plain, plain.replaceAll("\n", "\r\n")));
    fc.assert(
      fc.property(text, (before) => {
        const after = set(before);
        expect(after.startsWith(before)).toBe(true);
        expect(tomlFormat.read(config(after), path)).toEqual(entry);
        expect(set(after)).toBe(after);
        expect(remove(after)).toBe(before);
      }),
    );
  });

  test("is replaced in place, with its sub-tables, and the next table keeps its comment", () => {
    const text = [
      "[mcp_servers.gemini-search] # old",
      'command = "old"',
      "",
      '[mcp_servers."gemini-search".env]',
      'A = "b"',
      "",
      "# about b",
      "[mcp_servers.b]",
      'command = "b"',
      "",
    ].join("\n");
    expect(set(text)).toBe(`${TABLE}\n\n# about b\n[mcp_servers.b]\ncommand = "b"\n`);
    expect(remove(text)).toBe('\n# about b\n[mcp_servers.b]\ncommand = "b"\n');
  });

  test.each([
    ["inline", 'mcp_servers = { gemini-search = { command = "x" } }\n'],
    ["dotted", 'mcp_servers.gemini-search.command = "x"\n'],
    ["closed to additions", 'mcp_servers = { other = { command = "x" } }\n'],
    ["in a text", 'a = """\n[mcp_servers.gemini-search]\n"""\nmcp_servers.gemini-search.command = "x"\n'],
  ])("is refused, and not broken, if it is written %s", (_how, text) => {
    expect(() => set(text)).toThrow("cannot edit safely");
  });

  test("is refused with the line of the error if the file does not parse", () => {
    expect(() => set("a = 1\nb = \n")).toThrow(
      "/x/config.toml, line 2: This is not valid TOML. The file was not touched.",
    );
  });
});
