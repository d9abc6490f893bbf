/**
 * Loaded before a server of a test: names below `onda-press.com` have a public address, and connections to that address
 * reach a site on loopback. The guard is the product's own; only the network below it is simulated. CommonJS, for
 * `--require`.
 */

"use strict";

const dns = require("node:dns");
const { syncBuiltinESMExports } = require("node:module");
const net = require("node:net");

const ADDRESS = "93.184.216.34";
const PORT = Number(process.env["SIMULATED_INTERNET_PORT"]);

const { lookup } = dns.promises;
dns.promises.lookup = (name, ...rest) =>
  name.endsWith(".onda-press.com") ? Promise.resolve([{ address: ADDRESS, family: 4 }]) : lookup(name, ...rest);

const { connect } = net;
net.connect = (options, ...rest) => {
  if (options?.host !== ADDRESS) return connect(options, ...rest);
  const socket = connect({ ...options, host: "127.0.0.1", port: PORT }, ...rest);
  return Object.defineProperty(socket, "remoteAddress", { value: ADDRESS });
};
syncBuiltinESMExports();
