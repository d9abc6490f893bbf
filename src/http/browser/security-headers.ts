/** What every answer to the page tells the browser: run nothing foreign, show it in no frame, keep nothing. */

import { pageCsp } from "../../web/page-csp.ts";

const UNUSED_POWERS = [
  "accelerometer",
  "autoplay",
  "camera",
  "display-capture",
  "encrypted-media",
  "fullscreen",
  "geolocation",
  "gyroscope",
  "hid",
  "idle-detection",
  "magnetometer",
  "microphone",
  "midi",
  "payment",
  "picture-in-picture",
  "publickey-credentials-get",
  "screen-wake-lock",
  "serial",
  "usb",
  "xr-spatial-tracking",
];

const ALWAYS = {
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  // The clipboard stays: a report can be copied.
  "Permissions-Policy": UNUSED_POWERS.map((power) => `${power}=()`).join(", "),
};

/** An answer that says something stricter or fitter itself keeps it: files are kept, the sign-in page runs no script. */
const UNLESS_SAID = {
  "Content-Security-Policy": pageCsp(),
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-store",
};

export function protectPage(headers: Headers): void {
  for (const [name, value] of Object.entries(ALWAYS)) headers.set(name, value);
  for (const [name, value] of Object.entries(UNLESS_SAID)) if (!headers.has(name)) headers.set(name, value);
}
