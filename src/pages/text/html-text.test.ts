/** The visible text of pages, their tables, dates and authors. */

import { expect, test } from "vitest";
import { htmlToText } from "./html-text.ts";

const blocksOf = (html: string): string[] => htmlToText(html).page.blocks;

test("blocks, lists, terms and line breaks are read in order, without scripts and navigation (W9)", () => {
  const html = `<!doctype html><head><title> The  dam &amp; its lake </title><style>p{color:red}</style></head>
    <nav><a href=/>Home</a></nav><h1>The dam</h1><p>It is <b>118</b> metres<br>high.<script>var x = "no";</script>
    <p>The lake holds 10<sup>6</sup> m<sup>3</sup>.<sup class="reference">[4]</sup></p>
    <ul><li>One<li>Two <ul><li>Inner</ul></ul><dl><dt>Height</dt><dd>118 m</dd><dt>Owner<dd>Norda</dl><dl><dt>Alone</dl>
    <noscript>Enable scripts</noscript><div>Loose<div>text</div>after</div><p>Caf&eacute; &#x2014; r&uacute;a</p>`;
  const { page } = htmlToText(html);
  expect(page.title).toBe("The dam & its lake");
  expect(page.blocks).toEqual([
    "The dam",
    "It is 118 metres high.",
    "The lake holds 10⁶ m³.",
    "One",
    "Two",
    "Inner",
    "Height: 118 m",
    "Owner: Norda",
    "Alone",
    "Loose",
    "text",
    "after",
    "Café — rúa",
  ]);
});

test("hidden text is not part of the page (W9)", () => {
  const hidden = [
    `<p hidden>x</p>`,
    `<p style="color:red; display: none">x</p>`,
    `<div style="visibility:hidden"><p>x <b>y</b></p></div>`,
    `<p style="opacity:0">x</p>`,
    `<p style="font-size:0px">x</p>`,
    `<p style="position:absolute;left:-9999px">x</p>`,
    `<span class="sr-only">x</span>`,
    `<div class="box visually-hidden">x</div>`,
    `<template><p>x</p></template><dialog><p>x</p></dialog><select><option>x</select><textarea>x</textarea>`,
    `<p><del>x</del><s>x</s></p>`,
    `<!-- x --><iframe>x</iframe><object>x</object><svg><title>x</title></svg>`,
  ];
  hidden.push(
    `<p style="color:red;/**/display:none">x</p>`,
    `<p style="${"color:red;".repeat(300)}display:none">x</p>`,
    `<p style="${"color:red;".repeat(2_000)}">x</p>`,
    `<p style="height:0;overflow:hidden">x</p>`,
    `<p style="transform: scale(0)">x</p>`,
    `<p style="font-size:0.01px">x</p>`,
    `<p style="position:absolute;left:-99em">x</p>`,
  );
  for (const html of hidden) expect(blocksOf(`<p>shown</p>${html}<p>shown</p>`), html).toEqual(["shown", "shown"]);
  const shown = `<p class="hidden md:block">a</p><p class="d-none d-md-block">b</p><p style="opacity:0.9">c</p>
    <style>.x .y{display:none}</style><p>d</p><p class=y>e</p><details><summary>f</summary>g</details><p style="font-size:0.9em">h</p>`;
  expect(blocksOf(shown).join("")).toBe("abcdefgh");
});

test("a long heading is not repeated whole for every cell of a table (W9, T15)", () => {
  const rows = "<tr><td>a<td>1".repeat(500);
  const blocks = blocksOf(`<h1>${"heading ".repeat(4_000)}</h1><table><tr><th>x<th>y${rows}</table>`);
  expect(blocks).toHaveLength(501);
  expect(blocks.slice(1).join("").length).toBeLessThan(500 * 250);
});

test("each cell of a table carries caption, row and column (W9)", () => {
  const cells = blocksOf(`<h2>Rates</h2><table><thead><tr><th>Region<th>2024<th>2025</thead>
    <tr><td>Corvel<td>7.9<td>8.4<tr><td>Brisna<td>3.8<td></table>`);
  expect(cells).toEqual(["Rates", "Rates: Corvel: 2024: 7.9", "Rates: Corvel: 2025: 8.4", "Rates: Brisna: 2024: 3.8"]);
  const ranked = `<table><caption>Medals <b>2025</b></caption><tr><th>Rank<th>Team<th>Gold<tr><td>1<td>Karelia<td>14</table>`;
  expect(blocksOf(ranked)).toEqual(["Medals 2025: Karelia: Rank: 1", "Medals 2025: Karelia: Gold: 14"]);
  const spans = `<table><tr><th rowspan=2>Firm<th colspan=2>Revenue<tr><th>2024<th>2025
    <tr><th rowspan=2>Norda<td>1<td>2<tr><td>3<td>4<tr><td colspan=3>Source: reports</table>`;
  expect(blocksOf(spans)).toEqual([
    "Norda: Revenue 2024: 1",
    "Norda: Revenue 2025: 2",
    "Norda: Revenue 2024: 3",
    "Norda: Revenue 2025: 4",
    "Source: reports",
  ]);
  expect(blocksOf(`<table><tr><td>Height<td>118 m<tr><td>Owner<td>Norda</table>`)).toEqual([
    "Height: 118 m",
    "Owner: Norda",
  ]);
  expect(blocksOf(`<table><tr><td>Team<td>Points<tr><td>Ravens<td>41</table>`)).toEqual(["Ravens: Points: 41"]);
  const layout = `<table><tr><td><p>One.<p>Two.<table><tr><th>A<th>B<tr><td>x<td>1</table><td>Three.</table>`;
  expect(blocksOf(layout)).toEqual(["One.", "Two.", "x: B: 1", "Three."]);
});

test("date and author are read as the page states them (W9)", () => {
  const facts = (html: string): unknown => {
    const { title, date, author } = htmlToText(html).page;
    return { title, date, author };
  };
  const linked = {
    "@graph": [{ datePublished: "2025-03-04T10:00:00Z", author: [{ name: "A. Bell" }, { name: "C. Ode" }] }],
  };
  expect(
    facts(
      `<title>t</title><meta name=author content="Other"><script type="application/ld+json">${JSON.stringify(linked)}</script>`,
    ),
  ).toEqual({ title: "t", date: "2025-03-04T10:00:00Z", author: "A. Bell, C. Ode" });
  expect(
    facts(
      `<meta property="og:title" content="T"><meta property="article:published_time" content="2024-01-02"><meta name="author" content="D. Ark">`,
    ),
  ).toEqual({ title: "T", date: "2024-01-02", author: "D. Ark" });
  expect(facts(`<p><time datetime="2023-05-06">6 May</time>`)).toMatchObject({ date: "2023-05-06" });
  expect(facts(`<meta name=date content=today><script type="application/ld+json">{"a":</script>`)).toEqual({
    title: "",
    date: undefined,
    author: undefined,
  });
});
