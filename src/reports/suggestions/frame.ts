/** The document for the sandboxed frame with Search Suggestions: Google's styles and nothing else. */

/** A click opens Google in a new tab. Scripts, forms and access to the page are not allowed. */
export const FRAME_SANDBOX = "allow-popups allow-popups-to-escape-sandbox";

/**
 * A `srcdoc` frame is subject to the policy of the page and to this one, so its styles need the nonce of both. `html`
 * is the output of `readSuggestions`.
 */
export function suggestionFrame(html: string, nonce: string): string {
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<base target="_blank">
<title>Search Suggestions</title>
<style nonce="${nonce}">body { margin: 1px; }</style>
</head>
<body>
${html.replaceAll(/<style\b/gi, `<style nonce="${nonce}"`)}
</body>
</html>
`;
}

const ROW_PIXELS = 56;
const MAX_ROWS = 4;

/** The height cannot be measured from outside: one row per block; more rows than the maximum scroll. */
export const frameHeight = (blocks: number): number => ROW_PIXELS * Math.max(1, Math.min(MAX_ROWS, blocks));
