/** Checks the container files without a container engine: the files as they are, and a violation of each rule. */

import { expect, test } from "vitest";
import { checkContainers, type Containers, readContainers } from "../scripts/check-containers.ts";

const asTheyAre = readContainers();

test("Dockerfile and compose.yaml keep every rule (P7)", () => {
  expect(checkContainers(asTheyAre)).toEqual([]);
});

type Change = [string, Partial<Record<keyof Containers, [RegExp | string, string]>>, RegExp];

const CHANGES: Change[] = [
  ["an image without a version", { dockerfile: ["node:24-slim AS build", "node AS build"] }, /not an image with/],
  ["the latest of an image", { composition: ["postgres:17", "postgres:latest"] }, /not an image with/],
  ["root", { dockerfile: ["USER node", "USER root"] }, /runs as root/],
  ["no user", { dockerfile: ["USER node\n", ""] }, /runs as root/],
  ["no healthcheck", { dockerfile: ["HEALTHCHECK", "LABEL"] }, /No HEALTHCHECK/],
  ["a healthcheck of another program", { dockerfile: ['CMD ["node", "-e"', 'CMD ["curl", "-e"'] }, /No HEALTHCHECK/],
  ["another signal", { dockerfile: ["STOPSIGNAL SIGTERM", "STOPSIGNAL SIGKILL"] }, /not stopped by SIGTERM/],
  ["a shell around the program", { dockerfile: [/ENTRYPOINT .*/, "ENTRYPOINT node bin"] }, /ENTRYPOINT is not/],
  ["a program that is not there", { dockerfile: ["/app/bin/gemini", "/app/bin/openai"] }, /ENTRYPOINT is not/],
  ["a command that is not there", { dockerfile: ['CMD ["serve"]', 'CMD ["server"]'] }, /"server", which is not/],
  ["a flag that is not there", { composition: ["[worker]", "[worker, --forever]"] }, /worker has no --forever/],
  ["a variable that is not there", { composition: ["LOG_FORMAT", "LOG_STYLE"] }, /LOG_STYLE is not a setting/],
  ["a variable of the image", { dockerfile: ["MCP_SERVER_PORT=3000", "MCP_PORT=3000"] }, /MCP_PORT is not a setting/],
  [
    "a file that is not there",
    { dockerfile: ["/build/prompts prompts", "/build/pictures prompts"] },
    /COPY .*pictures/,
  ],
  ["a file that is kept out", { dockerignore: ["!prompts", ""] }, /COPY .*prompts/],
  ["a program that cannot be built", { dockerignore: ["!simulator", ""] }, /simulator\/main\.ts is built/],
  ["another version of a package", { dockerfile: ["pg@8.23.1", "pg@8.23.0"] }, /pg@8\.23\.0 is not/],
  ["a package less", { dockerfile: [/ \\\s+pg-boss@[\d.]+/, ""] }, /pg-boss is not in the image/],
  ["a key", { composition: ["LOG_FORMAT: json", "GEMINI_API_KEY: x"] }, /GEMINI_API_KEY does not belong/],
  ["a password", { composition: ["POSTGRES_USER", "POSTGRES_PASSWORD"] }, /POSTGRES_PASSWORD does not belong/],
  ["a password in an address", { composition: ["json", "postgres://ann:secret@host/x"] }, /has a password in it/],
  ["a root that can be written", { composition: ["read_only: true", "read_only: false"] }, /can write to its root/],
  ["capabilities", { composition: ["- ALL", "- NET_RAW"] }, /keeps capabilities/],
  ["privileges", { composition: ["no-new-privileges:true", "seccomp=unconfined"] }, /can gain privileges/],
  ["no time to stop", { composition: ["stop_grace_period: 10s", "attach: true"] }, /has no time to stop/],
  ["no init", { composition: ["init: true", "init: false"] }, /leaves zombies/],
  ["a database that is not waited for", { composition: ["service_healthy", "service_started"] }, /does not wait until/],
  [
    "a database without a check",
    { composition: [/ {4}healthcheck:\n {6}test[^]*?start_period: 20s\n/, ""] },
    /no healthcheck/,
  ],
  ["a volume that is not there", { composition: ["- state:/data", "- states:/data"] }, /states is no volume/],
  ["a public port", { composition: ["127.0.0.1:3000:3000", "3000:3000"] }, /open to the network/],
  ["another version of the program", { composition: ["mcp:0.2.0", "mcp:0.0.9"] }, /is not version/],
];

test.each(CHANGES)("a violation is found: %s (P7)", (_what, changes, sentence) => {
  const changed = { ...asTheyAre };
  for (const [file, [from, to]] of Object.entries(changes) as [keyof Containers, [RegExp | string, string]][]) {
    changed[file] = changed[file].replace(from, to);
    expect(changed[file]).not.toBe(asTheyAre[file]);
  }
  expect(checkContainers(changed).join("\n")).toMatch(sentence);
});

test("a service without limits is not even parsed", () => {
  const changed = { ...asTheyAre, composition: asTheyAre.composition.replace("memory: 512M", "pids: 5") };
  expect(() => checkContainers(changed)).toThrow();
});
