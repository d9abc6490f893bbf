/** The title of the browser tab. */

const MAX_TITLE_CHARACTERS = 80;

export function showTitle(view: string): void {
  const short = view.length > MAX_TITLE_CHARACTERS ? `${view.slice(0, MAX_TITLE_CHARACTERS - 1).trimEnd()}…` : view;
  document.title = short === "" ? "gemini-search-mcp" : `${short} · gemini-search-mcp`;
}
