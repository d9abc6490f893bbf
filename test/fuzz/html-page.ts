/** Fuzz target: reading a page never throws, shows nothing invisible, and keeps hidden text out (W9). */

import { readHtml } from "../../src/pages/text/read-html.ts";
import { type FuzzTarget, must, mustBeUnpolluted, mustBeVisible, stringsIn } from "./target.ts";

const SECRET = "zqsecretqz";
const CONTEXT = { requestedUrl: "https://site-a.org/a", finalUrl: "https://site-a.org/b" };

export const htmlPage: FuzzTarget = {
  name: "HTML pages",
  seeds: [
    "<!doctype html><title>T</title><h1>H</h1><p>Text <b>bold</b> 10<sup>6</sup></p><ul><li>a<li>b</ul>",
    "<table><caption>C</caption><thead><tr><th>a<th colspan=2>b</thead><tr><td rowspan=2>1<td>2<td>3<tr><td>4</table>",
    `<script type="application/ld+json">{"@graph":[{"datePublished":"2025-01-01","author":{"name":"A"}}]}</script><p>x`,
    `<style>.a{display:none} @media print{.b{display:none}}</style><div class=a>h</div><dl><dt>t<dd>d</dl>`,
    `<meta name=author content=x><time datetime=2025-01-01></time><noscript>js</noscript><svg><title>s</title></svg>`,
  ],
  words: [
    ..."<table> </table> <tr> <td> <th> <thead> <caption> </caption> <dl> <dt> <dd> <p> <sup> <br> <h2> </h2>".split(
      " ",
    ),
    ..."<style> </style> <script> </script> <title> </title> <noscript> <svg> <!-- --> <![CDATA[ ]]>".split(" "),
    ' class="hidden"',
    ' style="display:none"',
    " hidden",
    " colspan=3",
    " rowspan=0",
    ".a{visibility:hidden}",
    "&amp;",
    "&#0;",
    "\u202E",
    "404",
    "subscribe to continue",
    "__proto__",
  ],
  open: () => ({
    check: (input) => {
      const content = readHtml(input, CONTEXT);
      const shown = [...stringsIn(content)];
      for (const text of shown) mustBeVisible(text, "The text of a page");
      must(
        shown.every((text) => !text.includes("\n")),
        "a block is one line",
      );
      const planted = readHtml(
        `<p hidden>${SECRET}</p><div style="display:none"><b>${SECRET}</b></div>${input}`,
        CONTEXT,
      );
      must(![...stringsIn(planted)].some((text) => text.includes(SECRET)), "hidden text is not read");
      mustBeUnpolluted();
      return content.outcome === "text" ? `text ${Math.min(content.page.blocks.length, 8)}` : JSON.stringify(content);
    },
  }),
};
