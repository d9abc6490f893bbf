/** Invented search results: the same query always finds the same pages, all on reserved domains. */

import { createHash } from "node:crypto";

export interface Page {
  url: string;
  title: string;
  domain: string;
  /** One sentence that a report can cite. */
  snippet: string;
}

interface Publisher {
  domain: string;
  name: string;
}

const PUBLISHERS: readonly [Publisher, ...Publisher[]] = [
  { domain: "encyclopedia.example", name: "Open Encyclopedia" },
  { domain: "statistics.example", name: "Statistics Office" },
  { domain: "gazette.example.org", name: "The Gazette" },
  { domain: "journal.example", name: "Journal of Applied Inquiry" },
  { domain: "archive.example.net", name: "National Archive" },
  { domain: "cafe-society.test", name: "Café Society Review" },
  { domain: "standards.test", name: "Standards Board" },
];

type Finding = (a: number, b: number) => string;

// With accents, dashes and quotation marks, so that byte offsets and string indices differ.
const FINDINGS: readonly [Finding, ...Finding[]] = [
  (a, b) => `The recorded share rose from ${a} % to ${a + b} % within ${b} years.`,
  (a, b) => `A survey of ${a * 40} cases – the largest so far – found ${b} exceptions.`,
  (a, b) => `Critics call the figure of ${a} "far too neat" and count ${a + b} instead.`,
  (a) => `The café records of ${1900 + a} already mention it, naïve as they may seem.`,
  (a, b) => `Practice differs: ${b} of ${a + b} institutions report the opposite.`,
];

const PAGES_PER_QUERY = 3;

function slugOf(query: string): string {
  const words = query.toLowerCase().match(/[a-z0-9]+/g) ?? ["topic"];
  return words.slice(0, 6).join("-").slice(0, 60);
}

function titleOf(query: string): string {
  // Brackets would break the Markdown link that a report makes of a title.
  const line = query
    .replaceAll(/[\s[\]()<>]+/g, " ")
    .trim()
    .slice(0, 60);
  return line === "" ? "An unnamed topic" : line.charAt(0).toUpperCase() + line.slice(1);
}

function pick<Item>(items: readonly [Item, ...Item[]], seed: number): Item {
  return items[seed % items.length] ?? items[0];
}

export function searchWeb(query: string): Page[] {
  const normalised = query.replaceAll(/\s+/g, " ").trim().toLowerCase();
  const seed = createHash("sha256").update(normalised).digest();
  const slug = slugOf(normalised);
  return Array.from({ length: PAGES_PER_QUERY }, (_, index) => {
    // Adjacent publishers and findings, so that the pages of one query differ.
    const publisher = pick(PUBLISHERS, seed.readUInt8(0) + index);
    const finding = pick(FINDINGS, seed.readUInt8(1) + index);
    const mark = seed.toString("hex", 2 + index * 3, 5 + index * 3);
    return {
      url: `https://${publisher.domain}/${slug}-${mark}`,
      title: `${titleOf(query)} – ${publisher.name}`,
      domain: publisher.domain,
      snippet: finding(10 + (seed.readUInt8(12 + index) % 60), 2 + (seed.readUInt8(16 + index) % 9)),
    };
  });
}

export function searchAll(queries: readonly string[]): Page[] {
  const pages = new Map(queries.flatMap(searchWeb).map((page) => [page.url, page]));
  return [...pages.values()];
}

/** Google never returns the URL of a grounded page, only a redirect link. */
export function redirectLink(page: Page): string {
  const token = createHash("sha512").update(page.url).digest("base64url");
  return `https://vertexaisearch.cloud.google.com/grounding-api-redirect/AUZIYQ${token}`;
}
