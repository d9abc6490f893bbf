/** The small pages of signing in, each complete in itself: the form, and what a browser gets once it is let in. */

import { createHash } from "node:crypto";
import { PAGE_SECRET_ITEM } from "../../web/wire.ts";
import type { OpenedSession } from "./session.ts";

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

/**
 * Keeps the secret where only this origin reads it, then goes on. Not by a fragment of the next address: any page could
 * send a browser there with a secret of its own. And not by a redirect: one that began at a foreign page still counts
 * as that page's doing, and a strict cookie would stay behind.
 */
const ENTER_SCRIPT = `
const { secret, to } = document.querySelector("main").dataset;
try {
  localStorage.setItem("${PAGE_SECRET_ITEM}", secret);
  location.replace(to);
} catch {
  document.querySelector("#reason").textContent = "This browser keeps no data for this page. Allow it to, then sign in again.";
}
`;

export const enteredPage = (to: string, { cookie, secret }: OpenedSession): Response =>
  htmlPage({
    status: 200,
    title: "Open the page",
    body: `<h1>Open the page</h1>
<p id="reason" role="alert"></p>
<noscript><p>The page needs JavaScript.</p></noscript>`,
    data: { secret, to },
    script: ENTER_SCRIPT,
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

const sourceOf = (inline: string): string => `'sha256-${createHash("sha256").update(inline).digest("base64")}'`;

const policyWith = (script: string | undefined): string =>
  [
    "default-src 'none'",
    ...(script === undefined ? [] : [`script-src ${sourceOf(script)}`]),
    `style-src ${sourceOf(STYLE)}`,
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
  /** Constant text; what differs comes in `data`. */
  script?: string;
  data?: Record<string, string>;
  headers?: Record<string, string>;
}

const htmlPage = ({ status, title, body, script, data = {}, headers = {} }: HtmlPage): Response =>
  new Response(
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>${title} – gemini-search-mcp</title>
<style>${STYLE}</style>
</head>
<body>
<main${attributesOf(data)}>
<p class="name">gemini-search-mcp</p>
${body}
</main>
${script === undefined ? "" : `<script>${script}</script>`}
</body>
</html>
`,
    {
      status,
      headers: {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": policyWith(script),
        // With none at all a browser would send its form without an origin, which could then not be checked.
        "Referrer-Policy": "same-origin",
        ...headers,
      },
    },
  );

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

const attributesOf = (data: Record<string, string>): string =>
  Object.entries(data)
    .map(([name, value]) => ` data-${name}="${escaped(value)}"`)
    .join("");
