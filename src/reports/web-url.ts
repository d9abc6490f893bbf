/** Decides which URLs a report may link to. */

/** Browsers reject longer URLs. */
const MAX_URL_CHARACTERS = 4_096;

/**
 * Returns the normalized URL; undefined unless it is http or https without user name and password, which can disguise
 * the host.
 */
export function webUrl(text: string): string | undefined {
  if (text.length > MAX_URL_CHARACTERS || !/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const { href, protocol, username, password } = new URL(text);
  if (protocol !== "http:" && protocol !== "https:") return undefined;
  return username === "" && password === "" ? href : undefined;
}
