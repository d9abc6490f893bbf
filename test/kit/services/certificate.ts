/** Creates self-signed TLS certificates at run time, so that no key is stored in the repository. */

import { generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { isIPv4 } from "node:net";

const der = (tag: number, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  // DER requires the shortest form of a length; two bytes suffice here.
  const length =
    body.length < 0x80
      ? [body.length]
      : body.length < 0x100
        ? [0x81, body.length]
        : [0x82, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
};
const sequence = (...parts: Buffer[]): Buffer => der(0x30, ...parts);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, "hex"));
const time = (text: string): Buffer => der(0x17, Buffer.from(text));
const bits = (body: Buffer): Buffer => der(0x03, Buffer.from([0]), body);

const ECDSA_SHA256 = sequence(oid("2a8648ce3d040302"));
/** Different ones: of two trusted certificates with one name, OpenSSL tries only the first. */
const newName = (): Buffer =>
  sequence(der(0x31, sequence(oid("550403"), der(0x0c, Buffer.from(`Loopback tests ${randomUUID()}`)))));
const LOOPBACK = der(0x87, Buffer.from([127, 0, 0, 1]));

/** A certificate of 127.0.0.1, valid for one day of 2020. */
export const makeExpiredCertificate = (): Certificate => makeCertificate(LOOPBACK, ["200101000000Z", "200102000000Z"]);

/** Of a name or an IPv4 address. Valid until 2049, the last year that UTCTime can represent. */
export const makeCertificateOf = (host: string): Certificate =>
  makeCertificate(isIPv4(host) ? der(0x87, Buffer.from(host.split(".").map(Number))) : der(0x82, Buffer.from(host)), [
    "200101000000Z",
    "491231000000Z",
  ]);

interface Certificate {
  key: string;
  cert: string;
}

function makeCertificate(subject: Buffer, [from, until]: [string, string]): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = newName();
  const facts = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ECDSA_SHA256,
    name,
    sequence(time(from), time(until)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(sequence(oid("551d11"), der(0x04, sequence(subject))))),
  );
  const certificate = sequence(facts, ECDSA_SHA256, bits(sign("sha256", facts, privateKey)));
  const lines = certificate.toString("base64").replaceAll(/.{64}(?=.)/g, "$&\n");
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}
