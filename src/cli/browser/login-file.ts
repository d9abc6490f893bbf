/**
 * A private file that redirects a browser to a link. Every user of the machine can read command lines, so the link
 * itself could be read and used there; the path of a private file is of no use to them.
 */

import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export interface LoginFile {
  /** `file://…` */
  url: string;
  remove(): Promise<void>;
}

export async function createLoginFile(link: string, base = readableFolder()): Promise<LoginFile> {
  // Node creates it with mode 0700.
  const folder = await mkdtemp(join(base, "gemini-search-mcp-page-"));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true }).catch(() => undefined);
  try {
    const file = join(folder, "open.html");
    await writeFile(file, redirectPage(link), { mode: 0o600, flag: "wx" });
    return { url: pathToFileURL(file).href, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** A browser from a snap has its own /tmp, and can read only folders of the home directory without a leading dot. */
const SNAPS = ["firefox", "chromium", "brave", "opera"];

const readableFolder = (): string => (SNAPS.some((name) => existsSync(join("/snap/bin", name))) ? homedir() : tmpdir());

function redirectPage(link: string): string {
  const url = link.replaceAll("&", "&amp;").replaceAll('"', "%22");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${url}">
<title>gemini-search-mcp</title>
</head>
<body>
<p><a href="${url}">Open the dashboard</a></p>
</body>
</html>
`;
}
