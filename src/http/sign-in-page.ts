/** Where whoever is not known yet is asked for a token: one small page without scripts, complete in itself. */

import { createHash } from "node:crypto";

export interface SignIn {
  status: number;
  /** What was wrong with the last try. */
  reason?: string | undefined;
  /** Where they want to go; a place of ours. */
  to: string;
  /** A foreign page sent them here, so the cookie they may have did not come along: they can go on by themselves. */
  sentByOthers?: boolean;
  retryAfter?: string | null;
}

export function signInPage({ status, reason, to, sentByOthers = false, retryAfter = null }: SignIn): Response {
  const body = `<h1>Sign in</h1>
${reason === undefined ? "" : `<p id="reason" role="alert">${escaped(reason)}</p>`}
${sentByOthers ? `<p>Signed in already? <a href="${escaped(to)}">Open the page</a></p>` : ""}
<form method="post" action="/sign-in">
<input type="hidden" name="to" value="${escaped(to)}">
<input name="username" value="gemini-search-mcp" autocomplete="username" hidden>
<label for="token">Token</label>
<input id="token" name="token" type="password" required autofocus autocomplete="current-password" autocapitalize="off" spellcheck="false"${reason === undefined ? "" : ' aria-describedby="reason"'}>
<button>Sign in</button>
</form>
<p>On the machine of the server no token is needed: this command opens the page.</p>
<p><code>gemini-search-mcp dashboard</code></p>`;
  return htmlPage({
    status,
    title: "Sign in",
    body,
    headers: retryAfter === null ? {} : { "Retry-After": retryAfter },
  });
}

/** Nobody is signed in by a foreign page's doing: the link is used only when they go on themselves. */
export const goOnPage = (link: string): Response =>
  htmlPage({
    status: 200,
    title: "Open the page",
    body: `<h1>Open the page</h1>
<p>You came here from another page. If you asked for this link yourself, go on.</p>
<p><a class="button" href="${escaped(link)}">Go on</a></p>`,
  });

/** A redirect would still count as the foreign page's doing, and the new cookie would stay at home; this page is ours. */
export const leadOnPage = (to: string, cookie: string): Response =>
  htmlPage({
    status: 200,
    title: "Open the page",
    head: `<meta http-equiv="refresh" content="0; url=${escaped(to)}">`,
    body: `<h1>Open the page</h1>
<p><a class="button" href="${escaped(to)}">Go on</a></p>`,
    headers: { "Set-Cookie": cookie },
  });

const STYLE = `
:root { color-scheme: light dark; --ink: #1b1c1d; --quiet: #55585c; --ground: #fbfaf8; --line: #767b82; --accent: #1a55b0; --on: #ffffff; --alarm: #a3201a; }
@media (prefers-color-scheme: dark) { :root { --ink: #ececea; --quiet: #aaaeb4; --ground: #17181a; --line: #858a91; --accent: #9cc1ff; --on: #10213d; --alarm: #ffa79f; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { width: 100%; max-width: 24rem; }
p.name { margin: 0; color: var(--quiet); }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25; }
label { display: block; margin-bottom: 0.25rem; font-weight: 600; }
input { width: 100%; padding: 0.6rem 0.75rem; border: 1px solid var(--line); border-radius: 0.375rem; background: transparent; color: inherit; font: inherit; }
button, a.button { display: block; width: 100%; margin-top: 0.75rem; padding: 0.6rem 0.75rem; border: 1px solid transparent; border-radius: 0.375rem; background: var(--accent); color: var(--on); font: inherit; font-weight: 600; text-align: center; text-decoration: none; cursor: pointer; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
#reason { color: var(--alarm); font-weight: 600; }
form + p { margin-bottom: 0; color: var(--quiet); }
code { font: 0.95em/1.5 ui-monospace, monospace; overflow-wrap: anywhere; user-select: all; }
`;

const CSP = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

interface HtmlPage {
  status: number;
  title: string;
  /** Markup of ours; what others wrote in it is escaped. */
  body: string;
  head?: string;
  headers?: Record<string, string>;
}

const htmlPage = ({ status, title, body, head = "", headers = {} }: HtmlPage): Response =>
  new Response(
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">${head}
<title>${title} – gemini-search-mcp</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<p class="name">gemini-search-mcp</p>
${body}
</main>
</body>
</html>
`,
    {
      status,
      headers: {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": CSP,
        // With none at all a browser would send its form without an origin, which could then not be checked.
        "Referrer-Policy": "same-origin",
        ...headers,
      },
    },
  );

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
