/** Checks what can be decided from a URL alone: scheme, credentials, port and host. */

import { isIP } from "node:net";
import { isLocalName } from "../../platform/public-address.ts";
import { RefusedError } from "./refusal.ts";

const MAX_URL_CHARACTERS = 4_096;
const PORTS: readonly number[] = [80, 443, 8080, 8443];

export interface CheckedUrl {
  url: URL;
  /** Without brackets and without the dot that ends a fully qualified name. */
  host: string;
  isLiteral: boolean;
  port: number;
  isTls: boolean;
}

/** Throws `RefusedError`. An address literal is checked like the result of a lookup, by `resolveHost`. */
export function checkUrl(text: string): CheckedUrl {
  if (text.length > MAX_URL_CHARACTERS || !URL.canParse(text)) throw new RefusedError("address");
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") throw new RefusedError("scheme");
  if (url.username !== "" || url.password !== "") throw new RefusedError("credentials");
  const isTls = url.protocol === "https:";
  const port = url.port === "" ? (isTls ? 443 : 80) : Number(url.port);
  if (!PORTS.includes(port)) throw new RefusedError("port");
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const isLiteral = isIP(host) !== 0;
  if (!isLiteral && isLocalName(host)) throw new RefusedError("name");
  return { url, host, isLiteral, port, isTls };
}
