import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { deflateSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fileRoots } from "./file-access.ts";
import { type FileAccess, readFiles } from "./read-files.ts";

const PDF = Buffer.from("%PDF-1.7\n1 0 obj\n<<>>\nendobj\n%%EOF\n");

function png(width: number, height: number): Buffer {
  const header = Buffer.alloc(25);
  header.writeUInt32BE(13);
  header.write("IHDR", 4, "latin1");
  header.writeUInt32BE(width, 8);
  header.writeUInt32BE(height, 12);
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), header, deflateSync("")]);
}

let base: string;
let access: FileAccess;

beforeAll(() => {
  base = realpathSync(mkdtempSync(path.join(tmpdir(), "material-")));
  for (const directory of ["project/docs", "project/.ssh", "project-two", "config"])
    mkdirSync(path.join(base, directory), { recursive: true });
  const files: Record<string, string | Buffer> = {
    "project/paper.pdf": PDF,
    "project/docs/notes.md": "# Notes\n",
    "project/data.csv": "a,b\n1,ü\n",
    "project/plot.PNG": png(10, 10),
    "project/bomb.png": png(60_000, 60_000),
    "project/fake.pdf": "no PDF",
    "project/fake.txt": PDF,
    "project/fake.jpg": png(10, 10),
    "project/binary.txt": Buffer.from([0xff, 0xfe, 0x00]),
    "project/nul.csv": "a\0b",
    "project/empty.txt": "",
    "project/.env.txt": "KEY=1",
    "project/.ssh/notes.txt": "key",
    "project/program.exe": "x",
    "project-two/other.txt": "other",
    "config/config.txt": "secret",
    "outside.txt": "outside",
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(path.join(base, name), content);
  writeFileSync(path.join(base, "project/large.pdf"), PDF);
  truncateSync(path.join(base, "project/large.pdf"), 9_000_001);
  symlinkSync(path.join(base, "outside.txt"), path.join(base, "project/link.txt"));
  symlinkSync(base, path.join(base, "project/up"));
  symlinkSync("paper.pdf", path.join(base, "project/inside.pdf"));
  execFileSync("mkfifo", [path.join(base, "project/pipe.txt")]);
  access = {
    workingDirectory: path.join(base, "project"),
    roots: [path.join(base, "project"), path.join(base, "config")],
    privatePaths: [path.join(base, "config")],
  };
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

test("files inside the roots are read with name, kind, size and hash, links inside included (V3)", async () => {
  const files = await readFiles(["paper.pdf", "docs/notes.md", "data.csv", "plot.PNG", "inside.pdf"], access);
  expect(files.map(({ name, kind, bytes }) => [name, kind, bytes])).toEqual([
    ["paper.pdf", "pdf", PDF.length],
    ["notes.md", "markdown", 8],
    ["data.csv", "csv", 9],
    ["plot.PNG", "png", 41],
    ["paper.pdf", "pdf", PDF.length],
  ]);
  expect(Buffer.from(files[0]?.content ?? [])).toEqual(PDF);
});

test.each([
  ["../outside.txt", "outside the directories"],
  ["../project-two/other.txt", "outside the directories"],
  ["/etc/passwd", "outside the directories"],
  ["../missing.txt", "outside the directories"],
  ["link.txt", "outside the directories"],
  ["up/outside.txt", "outside the directories"],
  ["missing.txt", "There is no file missing.txt"],
  ["docs", "docs is not a regular file"],
  ["pipe.txt", "pipe.txt is not a regular file"],
  [".env.txt", "hidden or private"],
  [".ssh/notes.txt", "hidden or private"],
  ["../config/config.txt", "hidden or private"],
  ["program.exe", "has a type that cannot be sent"],
  ["fake.pdf", "fake.pdf is not a PDF, although its name says so"],
  ["fake.txt", "fake.txt is a PDF, although its name says text"],
  ["fake.jpg", "fake.jpg is not a JPEG picture"],
  ["bomb.png", "bomb.png has too many pixels"],
  ["binary.txt", "binary.txt is not text in UTF-8"],
  ["nul.csv", "nul.csv is not text"],
  ["empty.txt", "empty.txt is empty"],
  ["large.pdf", "the limit is 9 MB"],
])("%s is refused: %s (V3, T32)", async (file, message) => {
  await expect(readFiles([file], access)).rejects.toThrow(message);
});

test("more than ten files are refused before one is read (V3)", async () => {
  await expect(
    readFiles(
      Array.from({ length: 11 }, () => "fake.pdf"),
      access,
    ),
  ).rejects.toThrow("At most 10 files");
});

test("a path that the user typed may be anywhere, but not among credentials or the program's own files (V3)", async () => {
  const typed: FileAccess = { ...access, roots: "any" };
  expect(await readFiles(["../outside.txt"], typed)).toMatchObject([{ name: "outside.txt" }]);
  for (const file of [".ssh/notes.txt", ".env.txt", "../config/config.txt"])
    await expect(readFiles([file], typed)).rejects.toThrow("hidden or private");
});

test("by default files come from the working directory, unless that is the home directory or above it (V3)", () => {
  const home = homedir();
  const roots = (workingDirectory: string, configured: string[] = []): string[] =>
    fileRoots(configured, { workingDirectory, home });
  expect(roots(path.join(home, "project"))).toEqual([path.join(home, "project")]);
  for (const broad of [home, path.dirname(home), "/"]) expect(roots(broad)).toEqual([]);
  const linked = mkdtempSync(path.join(tmpdir(), "home-"));
  symlinkSync(realpathSync(tmpdir()), path.join(linked, "link"));
  expect(fileRoots([], { workingDirectory: realpathSync(tmpdir()), home: path.join(linked, "link") })).toEqual([]);
  rmSync(linked, { recursive: true });
  expect(roots("/", ["/data", "relative", "~/papers"])).toEqual(["/data", "/relative", path.join(home, "papers")]);
});
