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
  const backup = await replaceConfigFile(config, "{ }", { now: NOW });
  expect(backup).toBe(`${file}.backup-20261115-162030`);
  expect(readFileSync(file, "utf8")).toBe("\uFEFF{ }");
  expect(readFileSync(backup ?? "", "utf8")).toBe("\uFEFF{}");
  expect([file, backup ?? ""].map((name) => statSync(name).mode & 0o777)).toEqual([0o640, 0o640]);
  const second = await replaceConfigFile(await readConfigFile(file, 0o600), "{  }", { now: NOW });
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
  expect(replaced).toBeUndefined();
  expect(readFileSync(file, "utf8")).toBe("{}\n");
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("a symbolic link is kept, and the backup is beside it, not in the folder of its target", async () => {
  const [home, dotfiles] = [folder(), folder()];
  writeFileSync(join(dotfiles, "config.toml"), "a = 1\n");
  const file = join(home, "config.toml");
  symlinkSync(join(dotfiles, "config.toml"), file);
  const backup = await replaceConfigFile(await readConfigFile(file, 0o600), "a = 2\n", { now: NOW });
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
