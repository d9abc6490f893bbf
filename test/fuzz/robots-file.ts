/** Fuzz target: robots.txt never throws, always allows itself, and one more exclusion never allows more (W8). */

import { parseRobots } from "../../src/pages/robots/robots.ts";
import { type FuzzTarget, must, mustBeUnpolluted } from "./target.ts";

const NAME = "gemini-search-mcp";
const PATHS = ["/", "/a", "/a/b.pdf?x=1", "/caf%C3%A9", "/robots.txt", "/$", "/*"];

export const robotsFile: FuzzTarget = {
  name: "robots.txt",
  seeds: [
    "User-agent: *\nDisallow: /a\nAllow: /a/b\n",
    "\uFEFFuser-agent: gemini-search-mcp\nuser-agent: other\nDisallow: /*.pdf$ # files\n\nUser-agent: *\nDisallow: /\n",
    "Sitemap: https://site-a.org/s.xml\r\nCrawl-delay: 5\rDisallow: /caf\u00e9",
  ],
  words: [
    "User-agent: *",
    `User-agent: ${NAME}`,
    "Disallow: ",
    "Allow: ",
    "/",
    "*",
    "$",
    "#",
    "%2f",
    "\r\n",
    "\n",
    ":",
  ],
  open: () => ({
    check: (input) => {
      const rules = parseRobots(input, NAME);
      const results = PATHS.map((path) => rules.isAllowed(path));
      must(rules.isAllowed("/robots.txt"), "robots.txt is always allowed");
      const closed = parseRobots(`${input}\nUser-agent: *\nUser-agent: ${NAME}\nDisallow: /`, NAME);
      must(
        PATHS.every((path, n) => results[n] === true || !closed.isAllowed(path)),
        "an exclusion allows nothing",
      );
      mustBeUnpolluted();
      return results.map(Number).join("");
    },
  }),
};
