/** Decides whether an IP address or a host name belongs to the public Internet. */

import { BlockList, isIP } from "node:net";

/**
 * IPv4 networks without public hosts: the IANA special-purpose registry, multicast and the reserved upper half, and the
 * virtual address at which Azure serves its platform to every machine.
 */
const IPV4_NETWORKS = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["168.63.129.16", 32],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.31.196.0", 24],
  ["192.52.193.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["192.175.48.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const;

/** Within 2000::/3, the only part of IPv6 that is assigned to public hosts. 2002::/16 and 2001::/32 contain IPv4. */
const IPV6_NETWORKS = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["2620:4f:8000::", 48],
  ["3ffe::", 16],
  ["3fff::", 20],
] as const;

const GLOBAL_UNICAST = new BlockList();
GLOBAL_UNICAST.addSubnet("2000::", 3, "ipv6");
// Separate lists: a common one would compare IPv4 addresses with the IPv6 networks through their mapped form.
const SPECIAL_IPV4 = new BlockList();
const SPECIAL_IPV6 = new BlockList();
for (const [network, prefix] of IPV4_NETWORKS) SPECIAL_IPV4.addSubnet(network, prefix, "ipv4");
for (const [network, prefix] of IPV6_NETWORKS) SPECIAL_IPV6.addSubnet(network, prefix, "ipv6");

/** Prefixes of 96 bits that are followed by an IPv4 address: mapped addresses and the well-known prefix of NAT64. */
const BEFORE_IPV4 = ["0:0:0:0:0:ffff", "64:ff9b:0:0:0:0"];

/** Anything that is not an IP address is not public. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !SPECIAL_IPV4.check(address, "ipv4");
  if (family !== 6 || address.includes("%")) return false;
  const groups = ipv6Groups(address);
  if (BEFORE_IPV4.includes(groups.slice(0, 6).join(":"))) return isPublicAddress(embeddedIpv4(groups));
  return GLOBAL_UNICAST.check(address, "ipv6") && !SPECIAL_IPV6.check(address, "ipv6");
}

/** The eight groups in lower-case hexadecimal without leading zeros. */
export function ipv6Groups(address: string): string[] {
  // The URL parser writes the one canonical form, in which a dotted IPv4 tail is two groups.
  const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [before = "", after] = canonical.split("::");
  const head = before === "" ? [] : before.split(":");
  const tail = after === undefined || after === "" ? [] : after.split(":");
  return [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => "0"), ...tail];
}

function embeddedIpv4(groups: readonly string[]): string {
  const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16));
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
}

/** Top-level names that never exist in the public DNS (RFC 6761, RFC 6762, RFC 9476, ICANN) or are used in local networks. */
const LOCAL_TOP_LEVEL = new Set(
  "alt arpa consul corp example home i2p internal intranet invalid lan local localdomain localhost mail onion private svc test".split(
    " ",
  ),
);

/** True for names of one label, too: a search list of the resolver would complete them. */
export function isLocalName(hostname: string): boolean {
  const labels = hostname.toLowerCase().replace(/\.$/, "").split(".");
  return labels.length === 1 || LOCAL_TOP_LEVEL.has(labels.at(-1) ?? "");
}
