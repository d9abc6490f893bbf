/** Random Search Suggestions, parsed by a real browser after the filter: nothing but Google's tags and links is left. */

import { expect, test } from "vitest";
import { readSuggestions } from "../../src/reports/suggestions/chips.ts";
import { createRandom } from "../corpus/random.ts";
import { browserOrSkip, openPage } from "../kit/browser/browser.ts";

const PAYLOADS = 4_000;
const MAX_PIECES = 14;

/** What changes how a parser reads the rest, and what must not get through. */
const TAGS =
  "svg style math mtext title textarea noscript xmp template table select p a foreignObject desc iframe plaintext script g path div annotation-xml mglyph"
    .split(" ")
    .flatMap((tag) => [`<${tag}>`, `</${tag}>`]);
const MARKS =
  `<![CDATA[ ]]> <!-- --> --!> <! <? <sty le> </ < > " ' \` &lt; \0 <STYLE> <style/x> </STYLE/> <style/title=" </style/x="> <svg/class=" <path/d=' a{color:red}`.split(
    " ",
  );
/** Where parsers disagree most. */
const NESTED = ["<svg><style>", "<svg><style><![CDATA[", "<style><!--", "</style></svg>", "</style>", "]]>"];
const HOSTILE = [
  '<img src="http://127.0.0.1:9/" onerror="hit()">',
  '<a href="http://127.0.0.1:9/">Google</a>',
  '<a href="https://www.google.com/search?q=a">a</a>',
  '<svg onload="hit()">',
  '<path fill="url(http://127.0.0.1:9/)">',
  "a{background:url(http://127.0.0.1:9/)}",
];

/** In a document, as in the dashboard's frame, and in a shadow root, as in the card. */
const UNEXPECTED = `(outputs) => outputs.flatMap((html, index) => {
  const host = document.createElement("div");
  host.attachShadow({ mode: "open" }).innerHTML = html;
  const parsed = [new DOMParser().parseFromString(html, "text/html").documentElement, host.shadowRoot];
  return parsed.flatMap((root) => [...root.querySelectorAll("*")].flatMap((element) => {
    const name = element.localName;
    if (["html", "head", "body"].includes(name)) return [];
    const isAllowed = ["style", "a", "div", "span", "svg", "g", "path", "circle", "rect"].includes(name);
    const isGoogle = !element.hasAttribute("href") || element.getAttribute("href").startsWith("https://www.google.com/");
    const isPlain = [...element.attributes].every((attribute) => !/^on|^style$|src/i.test(attribute.name) && (attribute.name !== "fill" || !/url/.test(attribute.value)));
    const isSafe = name !== "style" || !/url|import|</.test(element.textContent);
    return isAllowed && isGoogle && isPlain && isSafe ? [] : [[index, element.outerHTML.slice(0, 200)]];
  }));
})`;

test("no suggestion, however it is nested, gets anything but Google's markup and links through the filter (T33)", async (context) => {
  const browser = await browserOrSkip(context);
  const random = createRandom(1);
  const payloads = Array.from({ length: PAYLOADS }, () =>
    Array.from({ length: random.between(2, MAX_PIECES) }, () =>
      random.pick(random.pick([TAGS, MARKS, NESTED, NESTED, HOSTILE])),
    ).join(""),
  );
  const { page } = await openPage(browser, "http://127.0.0.1:9");
  const outputs = payloads.map((payload) => readSuggestions([payload]).html);
  const found = await page.evaluate<[number, string][]>(`(${UNEXPECTED})(${JSON.stringify(outputs)})`);
  expect(found.map(([index, element]) => ({ payload: payloads[index], element }))).toEqual([]);
  // Otherwise the filter would only have removed everything.
  expect(outputs.filter((html) => html.includes("https://www.google.com/")).length).toBeGreaterThan(100);
});
