/** Fuzz target: the claims of any report are in order, in its text, and cite only known sources (W1, T17). */

import { comparePage } from "../../src/claims/compare-page.ts";
import { disagreement } from "../../src/claims/conflict.ts";
import { splitClaims } from "../../src/claims/split-claims.ts";
import { type FuzzTarget, must, mustBeUnpolluted, mustBeVisible } from "./target.ts";

const SOURCES = [1, 2, 3].map((n) => ({ n, title: "", url: `https://${n}.example/x`, domain: `${n}.example` }));

export const claimSplitting: FuzzTarget = {
  name: "claims",
  seeds: [
    "# A\n\n[cite_start]It is so. [cite: 1, 2] No [3]. See [a b](https://1.example/x).[^n]\n\n[^n]: https://2.example/x\n",
    "- **Label:** 5 EUR (see [x](https://3.example/x), [1])\n  - b: c [1][2]\n\n| a | b |\n|-|-|\n| c [1] | 5 \\| 6 |\n",
    "Sources:\n\n1. [a](https://1.example/x)\n\nAm 14. April z. B. 前年より1.8%減り、12万3400人。 <https://2.example/x> `code` [1]: x\n",
    "Revenue rose by 6.2 percent to CHF 1.94bn, but not 5 km, in Q1 2026; it may fall.",
  ],
  words: [
    "[cite: 1]",
    "[cite_start]",
    "[1]",
    "[^n]",
    "](",
    "https://1.example/x",
    "**",
    "\n\n",
    "\n- ",
    "|",
    ". ",
    "`",
    "(",
    ")",
    "万",
    "1.5",
    "percent",
    "not ",
  ],
  open: () => ({
    check: (input) => {
      const citations = [{ n: 1, start: 3, end: input.length }];
      const supports = [{ text: input.slice(0, 40), urls: ["https://2.example/x"] }];
      const claims = splitClaims({ report: input, sources: SOURCES, citations, supports, isNumbered: true });
      let end = 0;
      for (const claim of claims) {
        must(claim.start >= end && claim.end > claim.start && claim.end <= input.length, "W1: claims are in order.");
        ({ end } = claim);
        must(
          claim.sources.every((n) => n >= 1 && n <= 3),
          "W1: a claim cites known sources.",
        );
        must(
          claim.googleSources.every((n) => claim.sources.includes(n)),
          "W1: Google's ties are sources.",
        );
        mustBeVisible([claim.text, ...claim.headings, ...claim.context].join(" "), "a claim");
      }
      const [claim] = claims;
      if (claim !== undefined) compare(claim, input);
      mustBeUnpolluted();
      return `${Math.min(claims.length, 5)} ${claims.some(({ sources }) => sources.length > 0)} ${claims.some(({ context }) => context.length > 0)}`;
    },
  }),
};

function compare(claim: ReturnType<typeof splitClaims>[number], text: string): void {
  const page = { title: text.slice(0, 50), blocks: text.split("\n") };
  const { verdict, reason } = comparePage(claim, page);
  must(verdict !== "not_found" || (reason ?? "").endsWith("."), "W2: a reason is named.");
  must(disagreement(claim.text, claim.text) === undefined, "W2: a text agrees with itself.");
}
