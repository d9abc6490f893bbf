/** HTML that makes careless parsers slow, of about any given size. */

const repeated = (text: string, size: number): string => text.repeat(Math.ceil(size / text.length));
/** As many open elements as the reader accepts. */
const OPEN = "<div>".repeat(900);

export const HOSTILE_PAGES: Readonly<Record<string, (size: number) => string>> = {
  "nested elements": (size) => repeated("<div>", size),
  "unclosed formatting": (size) => repeated("<b><i><u>x", size),
  "stray end tags at depth": (size) => OPEN + repeated("</x>", size),
  "elements at depth": (size) => OPEN + repeated("<p>x</p>", size),
  "nested tables": (size) => repeated(`${"<table><tr><td>x".repeat(200)}${"</table>".repeat(200)}`, size),
  "cells with spans": (size) => `<table>${repeated("<tr><td colspan=1000 rowspan=65534>1<td>2", size)}`,
  "one row of cells": (size) => `<table><tr>${repeated("<td rowspan=9>1", size)}`,
  "head rows": (size) => `<table><thead>${repeated("<tr><th colspan=3>a<th>b", size)}`,
  "attributes of one element": (size) => `<p ${repeated("a1=b ", size)}>x`,
  "one long class": (size) => `<style>.b{display:none}</style><p class="${repeated("a ", size)}">x`,
  "one long style": (size) => `<p style="${repeated("; left:  ", size)}">x`,
  "rules of a style sheet": (size) => `<style>${repeated(".a,.b{display:none}", size)}</style><p>x`,
  "one selector": (size) => `<style>${repeated(", .a b", size)}{display:none}</style><p>x`,
  "open braces": (size) => `<style>${repeated("{", size)}</style>`,
  entities: (size) => repeated("&amp;&#x41;&notanentity;", size),
  "an unclosed comment": (size) => `<p>x<!--${repeated("-", size)}`,
  "comment starts": (size) => repeated("<!--x", size),
  "unclosed tags": (size) => repeated("<p a", size),
  "script ends": (size) => `<script>${repeated("</scrip", size)}`,
  "linked data": (size) => `<script type="application/ld+json">${repeated("[", size)}</script>`,
  terms: (size) => `<dl>${repeated("<dt>a<dd>", size)}`,
  "titles of drawings": (size) => `<svg>${repeated("<title>x</title>", size)}`,
  "white space": (size) => `<p>${repeated(" \n\t", size)}x`,
  "one paragraph": (size) => `<p>${repeated("word ", size)}`,
  superscripts: (size) => repeated("<sup>1</sup>", size),
  noscripts: (size) => repeated("<noscript>enable javascript</noscript>", size),
  "phrases of walls": (size) => `<title>${repeated("subscription ", size)}</title><p>${repeated("page ", size)}`,
};
