/** The addresses a reader may be led to. */

/** What is longer leads nowhere that a browser would go. */
const LONGEST = 4_096;

/** As a browser writes it; undefined for what is not on the web, or hides behind a name and password where it leads. */
export function webAddress(text: string): string | undefined {
  if (text.length > LONGEST || !/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const { href, protocol, username, password } = new URL(text);
  if (protocol !== "http:" && protocol !== "https:") return undefined;
  return username === "" && password === "" ? href : undefined;
}
