/** Addresses and names that must not be reached, and public ones that resemble them. */

import { expect, test } from "vitest";
import { isLocalName, isPublicAddress } from "./public-address.ts";

const SPECIAL = [
  ..."0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255 127.0.0.1 127.255.0.1".split(
    " ",
  ),
  ..."168.63.129.16 169.254.169.254 169.254.170.2 172.16.0.1 172.31.255.254 192.0.0.192 192.0.2.1 192.88.99.1".split(
    " ",
  ),
  ..."192.168.0.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.9 224.0.0.1 239.1.1.1 240.0.0.1".split(" "),
  ..."255.255.255.255 :: ::1 ::7f00:1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1".split(" "),
  ..."::ffff:0:127.0.0.1 64:ff9b::7f00:1 64:ff9b::10.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b:1::1 100::1 2001::1".split(" "),
  ..."2001:2::1 2001:10::1 2001:db8::1 2002:7f00:1:: 2002:a00:1::1 3fff::1 4000::1 5f00::1 fc00::1".split(" "),
  ..."fd00:ec2::254 fe80::1 fe80::1%eth0 fec0::1 ff02::1".split(" "),
  ..."localhost 127.1 0x7f.1 1.2.3 example.org".split(" "),
];
const PUBLIC = [
  ..."1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.1 93.184.216.34 100.63.255.255 100.128.0.1 126.255.255.255".split(" "),
  ..."128.0.0.1 168.63.129.15 168.63.129.17 172.15.255.255 172.32.0.1 192.0.1.1 192.167.255.255 198.17.255.255".split(
    " ",
  ),
  ..."198.20.0.1 223.255.255.255 2606:2800:220:1:248:1893:25c8:1946 2001:4860:4860::8888 2001:200::1".split(" "),
  ..."2a00:1450:4001::1 ::ffff:93.184.216.34 ::ffff:5db8:d822 64:ff9b::5db8:d822 64:ff9b::93.184.216.34".split(" "),
];

test("special addresses are not public, in any spelling, nor inside mapped and NAT64 addresses (W7)", () => {
  expect(SPECIAL.filter(isPublicAddress)).toEqual([]);
  expect(PUBLIC.filter((address) => !isPublicAddress(address))).toEqual([]);
});

test("names of local networks and reserved top-level names are recognised (W7)", () => {
  const local =
    "localhost localhost. a.localhost metadata metadata.google.internal printer.local router.lan host.docker.internal " +
    "kubernetes.default.svc kubernetes.default.svc.cluster.local x.home.arpa abc.onion site.test site.invalid INTRANET.CORP";
  const known = "example.org www.site-a.org local.site-a.org localhost.site-a.org lan.de xn--bcher-kva.example.com";
  expect(local.split(" ").filter((name) => !isLocalName(name))).toEqual([]);
  expect(known.split(" ").filter(isLocalName)).toEqual([]);
});
