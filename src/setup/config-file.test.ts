import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  type PathLike,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readConfigFile, replaceConfigFile } from "./config-file.ts";

const NOW = new Date("2026-11-15T16:20:30.400Z");

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "gemini-search-setup-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

test("a file is replaced atomically, with a backup, and keeps its mode and byte order mark", async () => {
  const file = join(folder(), "settings.json");
  writeFileSync(file, "\uFEFF{}");
  chmodSync(file, 0o640);
  const config = await readConfigFile(file, 0o600);
  expect(config).toMatchObject({ text: "{}", mark: "\uFEFF" });
  const { backup } = await replaceConfigFile(config, "{ }", { now: NOW });
  expect(backup).toBe(`${file}.backup-20261115-162030`);
  expect(readFileSync(file, "utf8")).toBe("\uFEFF{ }");
  expect(readFileSync(backup ?? "", "utf8")).toBe("\uFEFF{}");
  expect([file, backup ?? ""].map((name) => statSync(name).mode & 0o777)).toEqual([0o640, 0o640]);
  const { backup: second } = await replaceConfigFile(await readConfigFile(file, 0o600), "{  }", { now: NOW });
  expect(second).toBe(`${file}.backup-20261115-162030-2`);
  expect(readdirSync(join(file, "..")).toSorted()).toEqual([
    "settings.json",
    "settings.json.backup-20261115-162030",
    "settings.json.backup-20261115-162030-2",
  ]);
});

test("a missing file is created, with its folders, and without a backup", async () => {
  const file = join(folder(), "a", "b", "mcp.json");
  const replaced = await replaceConfigFile(await readConfigFile(file, 0o600), "{}\n", { now: NOW });
  expect(replaced).toEqual({ backup: undefined, overwritten: false });
  expect(readFileSync(file, "utf8")).toBe("{}\n");
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("a write of another program between comparison and replacement is never overwritten", async () => {
  const [home, name] = [folder(), "settings.json"];
  const file = join(home, name);
  /** Changes the file when the time of the backup is read: after the comparison and before the replacement. */
  const interrupted = (text: string) => ({
    get now() {
      writeFileSync(file, text);
      return NOW;
    },
  });
  const missing = await readConfigFile(file, 0o600);
  await expect(replaceConfigFile(missing, "ours", interrupted("theirs"))).rejects.toThrow("by another program");
  expect(readFileSync(file, "utf8")).toBe("theirs");
  const existing = await readConfigFile(file, 0o600);
  await expect(replaceConfigFile(existing, "ours", interrupted("newer"))).rejects.toThrow("by another program");
  expect(readFileSync(file, "utf8")).toBe("newer");
  expect(readdirSync(home)).toEqual([name]);
});

test("a symbolic link is kept, and the backup is beside it, not in the folder of its target", async () => {
  const [home, dotfiles] = [folder(), folder()];
  writeFileSync(join(dotfiles, "config.toml"), "a = 1\n");
  const file = join(home, "config.toml");
  symlinkSync(join(dotfiles, "config.toml"), file);
  const { backup } = await replaceConfigFile(await readConfigFile(file, 0o600), "a = 2\n", { now: NOW });
  expect(lstatSync(file).isSymbolicLink()).toBe(true);
  expect(readFileSync(join(dotfiles, "config.toml"), "utf8")).toBe("a = 2\n");
  expect(backup).toBe(join(home, "config.toml.backup-20261115-162030"));
  expect(readdirSync(dotfiles)).toEqual(["config.toml"]);
});

test("a file that changed since it was read is not overwritten", async () => {
  const file = join(folder(), "settings.json");
  writeFileSync(file, "{}");
  const config = await readConfigFile(file, 0o600);
  writeFileSync(file, '{"by": "the client"}');
  await expect(replaceConfigFile(config, "{ }", { now: NOW })).rejects.toMatchObject({ retryable: true });
  const missing = await readConfigFile(join(file, "..", "new.json"), 0o600);
  writeFileSync(missing.file, "{}");
  await expect(replaceConfigFile(missing, "{ }", { now: NOW })).rejects.toMatchObject({ retryable: true });
  expect(readFileSync(file, "utf8")).toBe('{"by": "the client"}');
  expect(readdirSync(join(file, "..")).toSorted()).toEqual(["new.json", "settings.json"]);
});

test("a write of another program right after ours is reported, and a retry makes no second backup", async () => {
  const file = join(folder(), "settings.json");
  writeFileSync(file, "{}");
  const renameFile = async (from: PathLike, to: PathLike): Promise<void> => {
    renameSync(from, to);
    writeFileSync(to, "theirs");
  };
  const first = await replaceConfigFile(await readConfigFile(file, 0o600), "{ }", { now: NOW, renameFile });
  expect(first).toEqual({ backup: `${file}.backup-20261115-162030`, overwritten: true });
  const config = await readConfigFile(file, 0o600);
  expect(await replaceConfigFile(config, "{ }", { now: NOW, backup: first.backup })).toEqual({
    ...first,
    overwritten: false,
  });
  expect(readdirSync(join(file, "..")).toSorted()).toEqual(["settings.json", "settings.json.backup-20261115-162030"]);
});

test("on Windows an open file is waited for; if it stays open, no backup is left", async () => {
  const file = join(folder(), "settings.json");
  writeFileSync(file, "{}");
  let refusals = 1;
  const renameFile = async (from: PathLike, to: PathLike): Promise<void> => {
    if (refusals-- > 0) throw Object.assign(new Error("busy"), { code: "EPERM" });
    renameSync(from, to);
  };
  const config = await readConfigFile(file, 0o600);
  const posix = replaceConfigFile(config, "{ }", { now: NOW, renameFile, platform: "linux" });
  await expect(posix).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  expect(readdirSync(join(file, ".."))).toEqual(["settings.json"]);
  refusals = 1;
  await replaceConfigFile(config, "{ }", { now: NOW, renameFile, platform: "win32" });
  expect(readFileSync(file, "utf8")).toBe("{ }");
});

test("of concurrent writes each is whole, and none is lost unreported", async () => {
  const file = join(folder(), "settings.json");
  writeFileSync(file, "0");
  const config = await readConfigFile(file, 0o600);
  const ends = await Promise.allSettled(
    Array.from({ length: 8 }, (_none, index) => replaceConfigFile(config, `${index + 1}`, { now: NOW })),
  );
  const written = ends.flatMap(({ status }, index) => (status === "fulfilled" ? [`${index + 1}`] : []));
  expect(written).toEqual([readFileSync(file, "utf8")]);
});

test("a stale lock is not waited for", async () => {
  const file = join(folder(), "settings.json");
  const lock = join(file, "..", ".settings.json.gemini-search-mcp.lock");
  writeFileSync(lock, "");
  utimesSync(lock, 0, 0);
  await replaceConfigFile(await readConfigFile(file, 0o600), "{}", { now: NOW });
  expect(readdirSync(join(file, ".."))).toEqual(["settings.json"]);
});

test("a file that is read-only, not a file, a dangling link, not text, or too large is not touched", async () => {
  const base = folder();
  const readOnly = join(base, "read-only.json");
  writeFileSync(readOnly, "{}", { mode: 0o444 });
  const config = await readConfigFile(readOnly, 0o600);
  await expect(replaceConfigFile(config, "{ }", { now: NOW })).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  expect(readFileSync(readOnly, "utf8")).toBe("{}");
  mkdirSync(join(base, "folder.json"));
  await expect(readConfigFile(join(base, "folder.json"), 0o600)).rejects.toThrow("This is not a file.");
  symlinkSync(join(base, "nowhere"), join(base, "loose.json"));
  await expect(readConfigFile(join(base, "loose.json"), 0o600)).rejects.toThrow("This link is dangling.");
  writeFileSync(join(base, "utf16.json"), Buffer.from("\uFEFF{}", "utf16le"));
  await expect(readConfigFile(join(base, "utf16.json"), 0o600)).rejects.toThrow("This is not UTF-8 text.");
  writeFileSync(join(base, "huge.json"), Buffer.alloc(65 * 1024 * 1024, " "));
  await expect(readConfigFile(join(base, "huge.json"), 0o600)).rejects.toThrow("too large");
  await expect(readConfigFile(join(readOnly, "below.json"), 0o600)).rejects.toMatchObject({
    code: "PERMISSION_DENIED",
  });
});
