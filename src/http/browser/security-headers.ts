/**
 * Security headers of every response: no third-party code, no framing, no caching. `hono/secure-headers` would overwrite
 * the policies that single responses have of their own, and adds HSTS, which would lock out http on loopback.
 */

import { pageCsp } from "../../web/assets.ts";

/** Those that reach the user, their devices or their money: no script but the page's own could ask for any. */
const UNUSED_FEATURES = ["camera", "display-capture", "geolocation", "hid", "microphone", "payment", "serial", "usb"];

const ALWAYS = {
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  // The clipboard stays allowed, so that a report can be copied.
  "Permissions-Policy": UNUSED_FEATURES.map((power) => `${power}=()`).join(", "),
};

/** Only where a response has no value of its own: assets are cached, and the sign-in page has a stricter policy. */
const DEFAULTS = {
  "Content-Security-Policy": pageCsp(),
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-store",
};

export function setSecurityHeaders(headers: Headers): void {
  for (const [name, value] of Object.entries(ALWAYS)) headers.set(name, value);
  for (const [name, value] of Object.entries(DEFAULTS)) if (!headers.has(name)) headers.set(name, value);
}

/** The responses of all other paths are data, and no document that a browser should show. */
export function setDataHeaders(headers: Headers): void {
  headers.set("X-Content-Type-Options", "nosniff");
  headers.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
  if (!headers.has("Cache-Control")) headers.set("Cache-Control", "no-store");
}
