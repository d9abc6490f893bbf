import { expect, test } from "vitest";
import { readSuggestions } from "./chips.ts";

const styled = (style: string): string => readSuggestions([`${style}<div class="container">x</div>`]).html;

test("Google's own styles are kept unchanged (T-1)", () => {
  const style =
    "<style>.container { color: #1f1f1f; } @media (prefers-color-scheme: dark) { .chip > a { top: 0 } }</style>";
  expect(styled(style)).toContain(style);
});

test.each([
  "<style>a{background:url(https://evil.example/)}</style>",
  "<style>a<b{background:url(https://evil.example/)}</style>",
  "<style><!-- a{background:url(https://evil.example/)} --></style>",
  "<STYLE>a<b{background:url(https://evil.example/)}</STYLE >",
  "<style>a{}</style><style>a</b>{background:url(https://evil.example/)}</style>",
  "<style>a<style>{background:url(https://evil.example/)}",
  "<svg><style><img src=https://evil.example/></style></svg>",
])("styles that could load something are removed: %s (T-1, T21)", (style) => {
  expect(styled(style)).not.toContain("evil.example");
});

test("markup that only a browser sees inside a style is removed (T33)", () => {
  const hidden = '<img src="https://evil.example/" onerror="x()"><a href="https://evil.example/">Google</a>';
  for (const html of [
    `<svg><style><![CDATA[</style></svg>${hidden}]]></style></svg>`,
    `<svg><style><![CDATA[</style></svg>${hidden}]]>`,
    `<sty<style></style>le>a{}</style>${hidden}`,
    `<style title="<">a{}</style></svg>${hidden}`,
  ]) {
    expect(styled(html).replaceAll("&lt;img", "")).not.toMatch(/evil\.example\/"|<img/);
  }
});

test("a fill is a colour and loads nothing (T-1, T21)", () => {
  const { html } = readSuggestions([
    '<svg fill="none"><path fill="#4285F4"/><path fill="url(https://evil.example/)"/></svg>',
  ]);
  expect(html).toBe('<svg fill="none"><path fill="#4285F4"></path><path></path></svg>');
});
