/** A small OAuth issuer on loopback: real keys, real JWTs, and the ways in which an issuer can fail. */

import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from "jose";

export interface TestIssuer {
  url: string;
  /** Distinguishes owners of this issuer from those of others. */
  mark: string;
  /** The requested paths, in order. */
  asked: string[];
  /** Overrides the responses; undefined restores the valid ones. */
  misbehave: (answer: ((response: ServerResponse, path: string) => void) | undefined) => void;
  /** A token that is valid except for the given claims and header. */
  token: (claims?: Record<string, unknown>, header?: { alg?: string; kid?: string; typ?: string }) => Promise<string>;
  unsigned: () => string;
  /** A token signed with the public key used as a shared secret. */
  confused: () => Promise<string>;
  /** A token as the issuer signs it, but with another key. */
  forged: () => Promise<string>;
  close: () => Promise<void>;
}

export const RESOURCE = "https://research.example.com/mcp";

/** Generated once, because it is slow. */
const ownKeys = generateKeyPair("RS256", { extractable: true });
const otherKeys = generateKeyPair("RS256");

export async function startIssuer({ path = "" }: { path?: string } = {}): Promise<TestIssuer> {
  const keys = await ownKeys;
  const others = await otherKeys;
  const publicJwk = { ...(await exportJWK(keys.publicKey)), kid: "first", alg: "RS256", use: "sig" };
  const asked: string[] = [];
  let answer: ((response: ServerResponse, path: string) => void) | undefined;
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const at = request.url ?? "";
    asked.push(at);
    if (answer !== undefined) answer(response, at);
    else if (at === `/.well-known/oauth-authorization-server${path}`)
      sendJson(response, { issuer: url, jwks_uri: `${origin}/keys` });
    else if (at === "/keys") sendJson(response, { keys: [publicJwk] });
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has such an address
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = `${origin}${path}`;
  const claims = (more: Record<string, unknown> = {}): JWTPayload => {
    const now = Math.floor(Date.now() / 1_000);
    return { iss: url, aud: RESOURCE, sub: "ann", iat: now, exp: now + 600, ...more };
  };
  const header = { alg: "RS256", kid: "first", typ: "at+jwt" };
  return {
    url,
    mark: createHash("sha256").update(url).digest("hex").slice(0, 12),
    asked,
    misbehave: (next) => {
      answer = next;
    },
    token: (more, other = {}) =>
      new SignJWT(claims(more)).setProtectedHeader({ ...header, ...other }).sign(keys.privateKey),
    unsigned: () => new UnsecuredJWT(claims()).encode(),
    confused: async () =>
      new SignJWT(claims())
        .setProtectedHeader({ ...header, alg: "HS256" })
        .sign(new TextEncoder().encode(await exportSPKI(keys.publicKey))),
    forged: () => new SignJWT(claims()).setProtectedHeader(header).sign(others.privateKey),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export const sendJson = (response: ServerResponse, value: unknown): void =>
  void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
