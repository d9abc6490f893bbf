/**
 * Self-contained HTML pages: the sign-in form, the question, the page that stores the secret, and the one of an address
 * that does not exist.
 */

import { createHash } from "node:crypto";
import { PAGE_SECRET_ITEM, PAGE_USER_ITEM } from "../../web/wire.ts";
import type { OpenedSession } from "./sessions.ts";

export interface SignIn {
  status: number;
  /** Why the last attempt failed. */
  reason?: string | undefined;
  /** Path of the page to open after signing in. */
  to: string;
  /** The browser came from another origin without its strict cookie, so the page offers a link to a signed-in user. */
  fromAnotherOrigin?: boolean;
  retryAfter?: string | null;
}

export function signInPage({ status, reason, to, fromAnotherOrigin = false, retryAfter = null }: SignIn): Response {
  const body = `<h1>Sign in</h1>
${reason === undefined ? "" : `<p id="reason" role="alert">${escaped(reason)}</p>`}
${fromAnotherOrigin ? `<p>Already signed in? <a href="${escaped(to)}">Open the page</a></p>` : ""}
<form method="post" action="/sign-in">
<input type="hidden" name="to" value="${escaped(to)}">
<input name="username" value="gemini-search-mcp" autocomplete="username" hidden>
<label for="token">Token</label>
<input id="token" name="token" type="password" required autofocus autocomplete="current-password" autocapitalize="off" spellcheck="false"${reason === undefined ? "" : ' aria-describedby="reason"'}>
<button>Sign in</button>
</form>
<p>On the server's own machine you need no token. This command opens the page:</p>
<p><code>gemini-search-mcp open</code></p>`;
  return htmlPage({
    status,
    title: "Sign in",
    body,
    headers: retryAfter === null ? {} : { "Retry-After": retryAfter },
  });
}

/** The link is used only when the user sends this form: whoever sent the link could read what is asked afterwards. */
export const confirmSignInPage = (owner: string, link: string): Response =>
  htmlPage({
    status: 200,
    title: "Sign in",
    body: `<h1>Sign in as ${escaped(owner)}?</h1>
<p>What you ask here then belongs to <strong>${escaped(owner)}</strong>, who can read it. Continue only if this is your account and you requested the link yourself.</p>
<form method="post" action="${escaped(link)}">
<button>Sign in as ${escaped(owner)}</button>
</form>
<p><a href="/">Don't sign in</a></p>`,
  });

/**
 * Stores the secret and the user's name in localStorage, which only this origin can read, then navigates. Not by a URL
 * fragment: any page could send a browser there with a secret of its own. And not by a redirect: a redirect that began
 * at another origin still counts as cross-site, and the browser would not send the strict cookie.
 */
const STORE_SECRET_SCRIPT = `
const { secret, user, to } = document.querySelector("main").dataset;
try {
  localStorage.setItem("${PAGE_SECRET_ITEM}", secret);
  if (user === undefined) localStorage.removeItem("${PAGE_USER_ITEM}");
  else localStorage.setItem("${PAGE_USER_ITEM}", user);
  location.replace(to);
} catch {
  document.querySelector("#reason").textContent = "This browser blocks local storage for this site. Allow it, then sign in again.";
}
`;

export const storeSecretPage = (to: string, { cookie, secret, user }: OpenedSession): Response =>
  htmlPage({
    status: 200,
    title: "Open the page",
    body: `<h1>Open the page</h1>
<p id="reason" role="alert"></p>
<noscript><p>The page needs JavaScript.</p></noscript>`,
    data: { secret, to, ...(user === undefined ? {} : { user }) },
    script: STORE_SECRET_SCRIPT,
    headers: { "Set-Cookie": cookie },
  });

/** The same for everybody: it does not show which addresses exist. */
export const missingPage = (): Response =>
  htmlPage({
    status: 404,
    title: "Page not found",
    body: `<h1>Page not found</h1>
<p>There is nothing at this address.</p>
<p><a href="/">Ask a question or open an earlier one</a></p>`,
  });

const STYLE = `
:root { color-scheme: light dark; --ink: #1b1c1d; --quiet: #55585c; --ground: #fbfaf8; --line: #767b82; --accent: #1a55b0; --on: #ffffff; --alarm: #a3201a; }
@media (prefers-color-scheme: dark) { :root { --ink: #ececea; --quiet: #aaaeb4; --ground: #17181a; --line: #858a91; --accent: #9cc1ff; --on: #10213d; --alarm: #ffa79f; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { width: 100%; max-width: 24rem; }
p.name { margin: 0; color: var(--quiet); }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25; overflow-wrap: anywhere; }
label { display: block; margin-bottom: 0.25rem; font-weight: 600; }
input { width: 100%; padding: 0.6rem 0.75rem; border: 1px solid var(--line); border-radius: 0.375rem; background: transparent; color: inherit; font: inherit; }
button { display: block; width: 100%; margin-top: 0.75rem; padding: 0.6rem 0.75rem; border: 1px solid transparent; border-radius: 0.375rem; background: var(--accent); color: var(--on); font: inherit; font-weight: 600; cursor: pointer; }
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
  /** Trusted markup; text from the request in it is escaped. */
  body: string;
  /** Constant, because the policy contains its hash; variable values are in `data`. */
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
        // With "no-referrer" a browser would send the form with the origin "null", which could not be checked.
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
