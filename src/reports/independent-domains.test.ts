/** Sites are counted by the domain that was registered, with the public suffix list. */

import { expect, test } from "vitest";
import { independentDomains } from "./independent-domains.ts";

const LINK = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/x";
const at = (url: string, domain = new URL(url).hostname) => ({ url, domain });

test("sub-domains of one owner are one site, users of a shared host are not, hidden targets count by their domain (W6)", () => {
  const sources = [
    at("https://www.bbc.co.uk/news"),
    at("https://sport.bbc.co.uk/"),
    at("https://other.co.uk/"),
    at("https://anna.github.io/"),
    at("https://bert.github.io/"),
    at(LINK, "bbc.co.uk"),
    at(LINK),
    { ...at(LINK), resolved_url: "https://www.example.com/a" },
    at("http://192.0.2.1/"),
  ];
  expect(independentDomains(sources)).toEqual([
    "bbc.co.uk",
    "other.co.uk",
    "anna.github.io",
    "bert.github.io",
    "example.com",
  ]);
});
