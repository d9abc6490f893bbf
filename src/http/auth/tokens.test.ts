import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeEach, describe, expect, test } from "vitest";
import { bearerToken, localToken, newToken } from "./tokens.ts";
import { createTestLog } from "../../../test/kit/log.ts";

let configDir: string;
let file: string;
let lines: string[];
const log = createTestLog((line) => lines.push(line), "INFO");

beforeEach(() => {
  lines = [];
  configDir = mkdtempSync(join(tmpdir(), "gemini-search-token-"));
  file = join(configDir, "token");
  return () => rmSync(configDir, { recursive: true, force: true });
});

const start = (options: { given?: string; configDirWritable?: boolean } = {}): Promise<string> =>
  localToken({
    config: {
      configDir,
      configDirWritable: options.configDirWritable ?? true,
      settings: { MCP_AUTH_TOKEN: options.given },
    },
    log,
  });

const modeOf = (path: string): number => statSync(path).mode & 0o777;

describe("the server's own token (A9)", () => {
  test("is created at the first start, kept privately and printed once", async () => {
    const token = await start();
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(readFileSync(file, "utf8")).toBe(`${token}\n`);
    expect(modeOf(file)).toBe(0o600);
    expect(readdirSync(configDir)).toEqual(["token"]);
    expect(lines).toEqual([`[INFO] Access token: ${token}\n  Saved in ${file}; shown only once.\n`]);
    lines = [];
    expect(await start()).toBe(token);
    expect(lines).toEqual([`[INFO] The access token is in ${file}.\n`]);
  });

  test("is private with any umask", async () => {
    const before = process.umask(0);
    await start();
    process.umask(before);
    expect(modeOf(file)).toBe(0o600);
  });

  test("is made private again when other users could read it, which is logged", async () => {
    writeFileSync(file, `${"t".repeat(20)}\n`);
    chmodSync(file, 0o644);
    expect(await start()).toBe("t".repeat(20));
    expect(modeOf(file)).toBe(0o600);
    expect(lines[0]).toMatch(/^\[WARN\] Other users of this machine could read the token file .* It is private now/);
    expect(lines.join("")).not.toContain("t".repeat(20));
  });

  test("is that of MCP_AUTH_TOKEN if set, which is neither written nor printed", async () => {
    expect(await start({ given: "a-secret-of-my-own" })).toBe("a-secret-of-my-own");
    expect(readdirSync(configDir)).toEqual([]);
    expect(lines).toEqual([]);
  });

  test.each(["fifteen-letters", "sixteen letters!", "sixteen-léttérs-", "x".repeat(4_097)])(
    "cannot be %j: the start names the reason and does not repeat it",
    async (given) => {
      const error = await start({ given }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "INVALID_INPUT", message: expect.stringContaining("MCP_AUTH_TOKEN") });
      expect(String(error)).not.toContain(given);
    },
  );

  test("in an empty file is an error, not a server that accepts an empty token", async () => {
    for (const content of ["", "\n", "short\n"]) {
      writeFileSync(file, content);
      await expect(start()).rejects.toMatchObject({
        code: "INVALID_INPUT",
        suggestion: expect.stringContaining("Delete"),
      });
    }
    rmSync(file);
    mkdirSync(file);
    await expect(start()).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  });

  test("is valid for one process if the directory cannot be written, unless the file exists", async () => {
    const token = await start({ configDirWritable: false });
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^\[WARN\] Access token: [\w-]{43}\n {2}Valid until this server stops/);
    expect(readdirSync(configDir)).toEqual([]);
    writeFileSync(file, "mounted-by-somebody\n", { mode: 0o600 });
    expect(await start({ configDirWritable: false })).toBe("mounted-by-somebody");
    rmSync(configDir, { recursive: true });
    expect(await start()).not.toBe(token);
  });

  test("is the same for all servers that start at the same moment, and one of them prints it", async () => {
    const program = `
      import { localToken } from ${JSON.stringify(join(import.meta.dirname, "tokens.ts"))};
      import { createLog } from ${JSON.stringify(join(import.meta.dirname, "../../platform/log.ts"))};
      const [configDir, at] = process.argv.slice(1);
      const log = createLog({ from: "INFO", format: "text", redact: (text) => text });
      while (Date.now() < Number(at));
      const config = { configDir, configDirWritable: true, settings: { MCP_AUTH_TOKEN: undefined } };
      console.log(await localToken({ config, log }));`;
    for (let round = 0; round < 3; round += 1) {
      rmSync(file, { force: true });
      const args = ["--input-type=module", "-e", program, configDir, String(Date.now() + 400)];
      const results = await Promise.all(Array.from({ length: 4 }, () => promisify(execFile)(process.execPath, args)));
      expect(new Set(results.map(({ stdout }) => stdout))).toEqual(new Set([readFileSync(file, "utf8")]));
      const token = readFileSync(file, "utf8").trim();
      expect(results.filter(({ stderr }) => stderr.includes(token))).toHaveLength(1);
      expect(readdirSync(configDir)).toEqual(["token"]);
    }
  });
});

describe("the token of a request (A9)", () => {
  const of = (authorization: string): string | undefined => bearerToken(new Headers({ authorization }));

  test("is the value after `Bearer`, whatever the case of that word", () => {
    const token = newToken();
    expect([of(`Bearer ${token}`), of(`bearer  ${token} `), of(`BEARER ${token}`)]).toEqual([token, token, token]);
  });

  test.each([
    "",
    "Bearer",
    "Bearer ",
    "Basic YTpi",
    "Bearer a b",
    "Bearer a, Bearer b",
    "Bearera",
    `Bearer ${"x".repeat(8_192)}`,
  ])("does not exist in %j", (header) => {
    expect(of(header)).toBeUndefined();
  });
});
