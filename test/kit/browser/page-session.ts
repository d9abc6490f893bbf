/** Reads the session of a browser from the response that signed it in. */

import { PAGE_SECRET_HEADER } from "../../../src/web/wire.ts";

/** The headers that the page sends with each of its requests. */
export interface BrowserHeaders extends Record<string, string> {
  cookie: string;
  [PAGE_SECRET_HEADER]: string;
}

export interface EnteredAnswer {
  body: string;
  setCookie: string;
}

export const browserHeaders = ({ body, setCookie }: EnteredAnswer): BrowserHeaders => ({
  cookie: setCookie.split(";")[0] ?? "",
  [PAGE_SECRET_HEADER]: dataOf(body, "secret"),
});

/** The target of the redirect in the response. */
export const destinationOf = (body: string): string => dataOf(body, "to");

const dataOf = (body: string, name: string): string =>
  new RegExp(`<main[^>]* data-${name}="([^"]*)"`).exec(body)?.[1]?.replaceAll("&amp;", "&") ?? "";
