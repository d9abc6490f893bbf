import { expect, test } from "vitest";
import { pageKey } from "./web-address.ts";

const PAGE = "https://site.example/guide";

test.each([
  `${PAGE}/`,
  `${PAGE}#costs`,
  `${PAGE}#:~:text=heat%20pumps`,
  `${PAGE}#L10-L20`,
  `${PAGE}?utm_source=mail&utm_medium=x`,
  `${PAGE}/?gclid=abc#top`,
  "https://SITE.example:443/guide",
])("%s is the same page (U3)", (address) => {
  expect(pageKey(address)).toBe(pageKey(PAGE));
});

test.each([
  "http://site.example/guide",
  "https://www.site.example/guide",
  "https://site.example/Guide",
  "https://site.example/guide/2",
  "https://site.example/guide//",
  "https://site.example:8443/guide",
  "https://ann@site.example/guide",
  `${PAGE}?page=2`,
  `${PAGE}?ref=main`,
  `${PAGE}#/users/7`,
  `${PAGE}#!topic`,
  `${PAGE}#id=7`,
  "guide",
  "mailto:ann@site.example",
])("%s is another page (U3)", (address) => {
  expect(pageKey(address)).not.toBe(pageKey(PAGE));
});

test("parameters that choose the content stay in their order (U3)", () => {
  expect(pageKey(`${PAGE}?b=1&utm_id=9&a=2`)).toBe(pageKey(`${PAGE}?b=1&a=2`));
  expect(pageKey(`${PAGE}?a=2&b=1`)).not.toBe(pageKey(`${PAGE}?b=1&a=2`));
});
