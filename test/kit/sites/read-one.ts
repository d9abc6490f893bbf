/** A program that reads one page of a site on loopback, whose port is in `SITE_PORT`, and prints the outcome. */

import { connect } from "node:net";
import type { Network } from "../../../src/pages/guard/dial.ts";
import { createPageReader } from "../../../src/pages/page-reader.ts";
import { systemClock } from "../../../src/platform/clock.ts";

const network: Network = {
  lookup: () => Promise.resolve(["127.0.0.1"]),
  isPublic: () => true,
  connect: (address) => connect({ host: address, port: Number(process.env["SITE_PORT"]) }),
};
const reader = createPageReader({
  clock: systemClock,
  network,
  limits: { hostIntervalMs: 0 },
});
const { outcome } = await reader.read("http://www.site-a.org/page", new AbortController().signal);
await reader.close();
process.stdout.write(`${outcome}\n`);
