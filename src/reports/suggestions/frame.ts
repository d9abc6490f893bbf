/** The document in which Search Suggestions are shown: in a sandboxed frame, with Google's styles and nothing else. */

/** What the frame may do: a click opens Google in a tab of its own. Scripts, forms and this page are out of reach. */
export const FRAME_SANDBOX = "allow-popups allow-popups-to-escape-sandbox";

/**
 * A frame without an address has the policy of the page around it and this one. Its styles need the nonce of both.
 * `html` is what `readSuggestions` let through.
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

/** Its height cannot be measured from outside: a row for each block, and more than a few scroll. */
export const frameHeight = (blocks: number): number => ROW_PIXELS * Math.max(1, Math.min(MAX_ROWS, blocks));
