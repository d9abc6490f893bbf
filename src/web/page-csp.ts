/** The Content-Security-Policy of the dashboard. */

/** The nonce of this load is for the styles in the frame of Search Suggestions, which inherits the policy. */
export const pageCsp = (styleNonce?: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${styleNonce === undefined ? "" : ` 'nonce-${styleNonce}'`}`,
    "connect-src 'self'",
    "img-src data:",
    "font-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types report",
  ].join("; ");
