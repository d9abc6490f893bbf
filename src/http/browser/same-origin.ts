/**
 * Whether a browser's request comes from our own page. A cookie comes along by itself, also from a page on another
 * port of the same machine: to `SameSite` all of localhost is one site.
 */

export interface PageOrigin {
  /** The Origin is where the request goes to. The Host itself is the guard's business. */
  isOwn(request: Request): boolean;
  /** From our page, from the user, or from a program that is no browser. */
  mayUsePage(request: Request): boolean;
}

export function createPageOrigin(publicUrl: string | undefined): PageOrigin {
  const publicOrigin = publicUrl === undefined ? undefined : URL.parse(publicUrl)?.origin;
  const isOwn = ({ headers }: Request): boolean => {
    const origin = headers.get("origin");
    const host = (headers.get("host") ?? "").toLowerCase();
    // A form on a page that tells nobody its address has no origin to tell, but the browser vouches for it.
    if (origin === "null") return headers.get("sec-fetch-site") === "same-origin";
    // Which of the two it is only a proxy before us knows.
    return origin === `http://${host}` || origin === `https://${host}` || (origin !== null && origin === publicOrigin);
  };
  return {
    isOwn,
    mayUsePage: (request) => {
      if (request.headers.has("origin") && !isOwn(request)) return false;
      // Absent from old browsers, from programs, and where neither TLS nor loopback makes an address trustworthy.
      const site = request.headers.get("sec-fetch-site") ?? "none";
      return site === "none" || site === "same-origin" || isNavigation(request);
    },
  };
}

/** A link on a foreign page may lead here: it shows something and changes nothing. */
export function isNavigation({ method, headers }: Request): boolean {
  const destination = headers.get("sec-fetch-dest") ?? "document";
  return method === "GET" && headers.get("sec-fetch-mode") === "navigate" && destination === "document";
}

/** Somebody else's page sent the browser here, so that a strict cookie has stayed at home. */
export const isSentByOthers = ({ headers }: Request): boolean =>
  ["cross-site", "same-site"].includes(headers.get("sec-fetch-site") ?? "");
