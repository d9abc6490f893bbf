/** The token command: tokens are shown once, stored as hashes, and can be revoked. */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { hashToken, ownerOfToken } from "../../src/http/auth/tokens.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { openStore } from "../../src/store/store.ts";
import { openScene, type Scene } from "../kit/server/scene.ts";
import { silentLog as log } from "../kit/log.ts";

const TOKEN = /^[\w-]{43}\n$/;

/** All that the config directory holds, as bytes. */
const keptBytes = ({ configDir }: Scene): string =>
  readdirSync(configDir, { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n");

describe("token add (A9)", () => {
  test("prints the token alone on stdout, once, and keeps only its hash", async (context) => {
    const scene = await openScene(context);
    const { code, stdout, stderr } = await scene.command(["token", "add", "ann"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(TOKEN);
    const token = stdout.trim();
    expect(stderr).toBe("This is the token for ann. It is not stored and cannot be shown again.\n");
    const kept = keptBytes(scene);
    expect(kept).not.toContain(token);
    expect(kept).toContain(createHash("sha256").update(token).digest("hex"));
    for (const args of [["list"], ["list", "--json"], ["add", "ann"], ["revoke", "ann"]]) {
      const later = await scene.command(["token", ...args]);
      expect(later.stdout + later.stderr).not.toContain(token);
    }
  });

  test("refuses a name that is taken, reserved or not one, exit 2", async (context) => {
    const scene = await openScene(context);
    await scene.command(["token", "add", "ann"]);
    const taken = await scene.command(["token", "add", "ann"]);
    expect(taken).toEqual({
      code: 2,
      stdout: "",
      stderr: "INVALID_INPUT: ann already has a token.\nRevoke it first: gemini-search-mcp token revoke ann\n",
    });
    const json = await scene.command(["token", "add", "local", "--json"]);
    expect(json.code).toBe(2);
    expect(JSON.parse(json.stdout)).toMatchObject({ success: false, error: { code: "INVALID_INPUT" } });
    for (const name of ["Ann", "oauth:ann", "a b", "", "ä", "a".repeat(65)]) {
      expect(await scene.command(["token", "add", name])).toMatchObject({ code: 2, stdout: "" });
    }
  });

  test("gives a name one token, however many are requested at once", async (context) => {
    const scene = await openScene(context);
    const all = await Promise.all(Array.from({ length: 4 }, () => scene.command(["token", "add", "ann"])));
    expect(all.filter(({ code }) => code === 0)).toHaveLength(1);
    expect(all.filter(({ code, stdout }) => code === 2 && stdout === "")).toHaveLength(3);
  });

  test("fails without a writable database, and prints no token", async (context) => {
    const scene = await openScene(context);
    const { code, stdout, stderr } = await scene.command(["token", "add", "ann"], {
      env: { DEEP_RESEARCH_DB: join(scene.configDir, "in", "no", "directory.db") },
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("SQLITE_ERROR: Tokens are stored in the database, which cannot be written.");
  });

  test("says in its help which runs belong to a name", async (context) => {
    const scene = await openScene(context);
    const { code, stdout } = await scene.command(["token", "add", "--help"]);
    expect(code).toBe(0);
    expect(stdout).toContain("has access to its former runs");
    expect((await scene.command(["token"])).code).toBe(2);
  });
});

describe("token list and revoke (A9)", () => {
  test("show names and dates, never a token", async (context) => {
    const scene = await openScene(context);
    expect(await scene.command(["token", "list"])).toEqual({ code: 0, stdout: "There are no tokens.\n", stderr: "" });
    const added = JSON.parse((await scene.command(["token", "add", "bob", "--json"])).stdout);
    expect(added).toEqual({
      success: true,
      name: "bob",
      token: expect.stringMatching(/^[\w-]{43}$/),
      created_at: expect.stringMatching(/Z$/),
    });
    await scene.command(["token", "add", "ann"]);
    await scene.command(["token", "revoke", "bob"]);
    const { stdout } = await scene.command(["token", "list", "--json"]);
    expect(JSON.parse(stdout)).toEqual({
      success: true,
      tokens: [
        { name: "ann", created_at: expect.any(String), last_used_at: null, revoked_at: null },
        { name: "bob", created_at: added.created_at, last_used_at: null, revoked_at: expect.any(String) },
      ],
    });
    const shown = (await scene.command(["token", "list"])).stdout;
    expect(shown).toMatch(/^NAME +CREATED +LAST USED +REVOKED\nann +\S+Z +never +no\nbob +\S+Z +never +\S+Z\n$/);
  });

  test("a revoke takes effect at once in a process that has the database open", async (context) => {
    const scene = await openScene(context);
    const token = (await scene.command(["token", "add", "ann"])).stdout.trim();
    const store = await openStore({ file: join(scene.configDir, "deep_research.db"), clock: systemClock, log });
    context.onTestFinished(store.close);
    const owner = (): Promise<string | undefined> => ownerOfToken(store.db, hashToken(token), Date.now());
    expect(await owner()).toBe("ann");
    expect(await scene.command(["token", "revoke", "ann"])).toEqual({
      code: 0,
      stdout: "The token for ann is revoked. The runs are kept, schedules are paused, webhooks disabled.\n",
      stderr: "",
    });
    expect(await owner()).toBeUndefined();
    expect(await scene.command(["token", "revoke", "ann"])).toMatchObject({ code: 2, stdout: "" });
    expect((await scene.command(["token", "add", "ann"])).code).toBe(0);
    expect(await owner()).toBeUndefined();
  });
});
