/** Google's redirect links, resolved after a run if the user wants it: through the built server, at a stand-in. */

import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import * as https from "node:https";
import { join } from "node:path";
import { expect, test, type TestContext } from "vitest";
import { makeCertificateOf } from "../kit/services/certificate.ts";
import { openResearch, type ResearchScene, startRun, untilStatus } from "../kit/server/research.ts";
import type { RunningServer } from "../kit/server/server.ts";

const REDIRECT_HOST = "vertexaisearch.cloud.google.com";

/** A proxy that directs every tunnel to our own redirect host; nothing leaves the machine. */
async function openRedirectHost({ onTestFinished }: Pick<TestContext, "onTestFinished">) {
  const { key, cert } = makeCertificateOf(REDIRECT_HOST);
  const requests: string[] = [];
  const host = https.createServer({ key, cert }, ({ method, url = "" }, response) => {
    requests.push(`${method} ${url}`);
    response.writeHead(302, { location: `https://page.site-a.org/${requests.length}` }).end();
  });
  await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve));
  const tunnels: string[] = [];
  const proxy = createServer((_, response) => response.writeHead(502).end());
  proxy.on("connect", ({ url = "" }, socket) => {
    tunnels.push(url);
    const tunnel = connect(portOf(host), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      tunnel.pipe(socket).pipe(tunnel);
    });
    tunnel.on("error", () => socket.destroy());
    socket.on("error", () => tunnel.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const server of [proxy, host]) {
      server.closeAllConnections();
      server.close();
    }
  });
  return { url: `http://127.0.0.1:${portOf(proxy)}`, cert, requests, tunnels };
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a listening TCP server has no other kind of address
const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;

test("redirect links are resolved after the run when RESOLVE_SOURCE_LINKS is set, and otherwise listed with their last day (T-3, W6)", async (context) => {
  const scene = await openResearch(context);
  const google = await openRedirectHost(context);
  const certificate = join(scene.configDir, "redirect-host.pem");
  writeFileSync(certificate, google.cert);
  const env = { HTTPS_PROXY: google.url, NO_PROXY: "127.0.0.1", NODE_EXTRA_CA_CERTS: certificate };

  const unasked = await scene.server({ env });
  const unresolved = await startRun(unasked);
  await untilStatus(unasked, unresolved, "completed");
  expect(google.tunnels).toEqual([]);
  await listsExpiry(scene, unasked, unresolved);

  const server = await scene.server({ env: { ...env, RESOLVE_SOURCE_LINKS: "true" } });
  const task_id = await startRun(server, "Where do redirect links lead?");
  await untilStatus(server, task_id, "completed");
  const resolved = async (): Promise<unknown> => {
    const { structured } = await server.call("get_research_results", { task_id });
    return structured["sources"];
  };
  await expect.poll(resolved).toContainEqual(
    expect.objectContaining({
      url: expect.stringContaining(`https://${REDIRECT_HOST}/`),
      resolved_url: expect.stringMatching(/^https:\/\/page\.site-a\.org\/\d+$/),
    }),
  );
  expect(new Set(google.tunnels)).toEqual(new Set([`${REDIRECT_HOST}:443`]));
  expect(google.requests[0]).toMatch(/^HEAD \/grounding-api-redirect\//);
});

/** A link that was not resolved is listed as title and domain with its last day, over MCP and in the terminal (W6). */
async function listsExpiry(scene: ResearchScene, server: RunningServer, task_id: string): Promise<void> {
  const day = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
  const { structured, text } = await server.call("get_research_results", { task_id });
  const [first] = structured["sources"];
  expect(first).toMatchObject({ title: expect.any(String), domain: expect.any(String) });
  expect(structured["metadata"]).toMatchObject({ links_expire: day });
  expect(text).toContain(`1. ${first.domain}: ${first.url}`);
  expect(text).toContain(`links_expire: ${day}`);
  const shown = await scene.command(["show", task_id]);
  expect(shown.stdout).toContain(`, link expires ${day}: https://${REDIRECT_HOST}/`);
}
