/**
 * Checks whether a browser's request comes from our own dashboard. A browser also sends the cookie with requests from a
 * page on another port of the same host: for `SameSite`, all of localhost is one site. `hono/csrf` is weaker: it lets every GET pass, and JSON of any origin.
 */

export interface OriginCheck {
  /** Whether Origin and Host match. The Host itself is checked by the host guard. */
  isSameOrigin(request: Request): boolean;
  /** Whether the request comes from our page, from the user, or from a program that is not a browser. */
  mayUsePage(request: Request): boolean;
}

export function createOriginCheck(publicUrl: string | undefined): OriginCheck {
  const publicOrigin = publicUrl === undefined ? undefined : URL.parse(publicUrl)?.origin;
  const isSameOrigin = ({ headers }: Request): boolean => {
    const origin = headers.get("origin");
    const host = (headers.get("host") ?? "").toLowerCase();
    // With "no-referrer", a form of our own page has the origin "null", but the browser marks it as same-origin.
    if (origin === "null") return headers.get("sec-fetch-site") === "same-origin";
    // Both schemes: only a proxy in front of us knows which one the browser used.
    return origin === `http://${host}` || origin === `https://${host}` || (origin !== null && origin === publicOrigin);
  };
  return {
    isSameOrigin,
    mayUsePage: (request) => {
      if (request.headers.has("origin") && !isSameOrigin(request)) return false;
      // Absent in old browsers, in other programs, and without TLS on addresses other than loopback.
      const site = request.headers.get("sec-fetch-site") ?? "none";
      return site === "none" || site === "same-origin" || isNavigation(request);
    },
  };
}

/** Allowed from any origin: a top-level GET navigation displays something and changes nothing. */
export function isNavigation({ method, headers }: Request): boolean {
  const destination = headers.get("sec-fetch-dest") ?? "document";
  return method === "GET" && headers.get("sec-fetch-mode") === "navigate" && destination === "document";
}

/** A page of another origin initiated the request, so the browser has not sent a strict cookie. */
export const isFromAnotherOrigin = ({ headers }: Request): boolean =>
  ["cross-site", "same-site"].includes(headers.get("sec-fetch-site") ?? "");
