/** Search Suggestions like Google's: a style element, a row with a logo, and a chip for each query. */

import { createHash } from "node:crypto";

/** Has a light and a dark appearance, selected by a media query, like Google's. */
const STYLE = `
.container { display: flex; align-items: center; padding: 6px 12px; border-radius: 8px; font: 14px/20px sans-serif; }
.headline { display: flex; margin-right: 4px; }
.gradient-container { position: relative; }
.gradient { position: absolute; width: 9px; height: 36px; }
.carousel { overflow: auto; white-space: nowrap; }
.chip { display: inline-block; padding: 5px 16px; margin: 0 8px; border: solid 1px; border-radius: 16px; text-decoration: none; }
@media (prefers-color-scheme: light) {
  .container { background-color: #fafafa; }
  .chip { color: #5e5e5e; background-color: #ffffff; border-color: #d2d2d2; }
  .logo-dark { display: none; }
}
@media (prefers-color-scheme: dark) {
  .container { background-color: #1f1f1f; }
  .chip { color: #ffffff; background-color: #2c2c2c; border-color: #3c4043; }
  .logo-light { display: none; }
}
`;

const logo = (
  theme: "light" | "dark",
): string => `<svg class="logo-${theme}" width="18" height="18" viewBox="0 0 48 48" xmlns="http://www.w3.org/2000/svg">
      <circle cx="24" cy="24" r="20" fill="#4285F4"/>
      <path fill-rule="evenodd" clip-rule="evenodd" d="M12 22h24v4H12z" fill="#FFFFFF"/>
    </svg>`;

/** Opaque and long, like Google's links. */
const linkFor = (query: string): string =>
  `https://vertexaisearch.cloud.google.com/grounding-api-redirect/SIM${createHash("sha512").update(query).digest("base64url").repeat(3)}==`;

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? "");

export function suggestionsFor(queries: readonly string[]): string {
  const chips = queries.map((query) => `    <a class="chip" href="${linkFor(query)}">${escaped(query)}</a>`);
  return `<style>${STYLE}</style>
<div class="container">
  <div class="headline">
    ${logo("light")}
    ${logo("dark")}
    <div class="gradient-container"><div class="gradient"></div></div>
  </div>
  <div class="carousel">
${chips.join("\n")}
  </div>
</div>
`;
}
