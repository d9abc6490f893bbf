/** Stores Google's Search Suggestions unchanged, without duplicates and within size limits. */

/** A run with more searches keeps the first ones. One suggestion has about 5 KB, most of it styles. */
const MAX_SUGGESTIONS = 100;
const MAX_SUGGESTION_CHARACTERS = 50_000;
const MAX_SUGGESTIONS_CHARACTERS = 1_000_000;

export function keepSuggestions(received: readonly string[]): string[] {
  const kept = new Set<string>();
  let left = MAX_SUGGESTIONS_CHARACTERS;
  for (const html of received) {
    if (kept.size === MAX_SUGGESTIONS) break;
    const fits = html.length <= Math.min(MAX_SUGGESTION_CHARACTERS, left);
    if (!fits || html.trim() === "" || kept.has(html)) continue;
    kept.add(html);
    left -= html.length;
  }
  return [...kept];
}
