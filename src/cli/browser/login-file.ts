/**
 * A private file that leads a browser on to a link. The link itself on a command line could be read, and used first, by
 * every user of the machine; the name of a file that nobody else may open can not.
 */

import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export interface OpeningFile {
  /** `file://…` */
  address: string;
  remove(): Promise<void>;
}

export async function makeOpeningFile(link: string, base = readableFolder()): Promise<OpeningFile> {
  // Node makes it for its owner alone (0700).
  const folder = await mkdtemp(join(base, "gemini-search-mcp-page-"));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true }).catch(() => undefined);
  try {
    const file = join(folder, "open.html");
    await writeFile(file, leadingTo(link), { mode: 0o600, flag: "wx" });
    return { address: pathToFileURL(file).href, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** A browser out of a snap has a /tmp of its own, and of the user's folders sees those whose names begin with no dot. */
const SNAPS = ["firefox", "chromium", "brave", "opera"];

const readableFolder = (): string => (SNAPS.some((name) => existsSync(join("/snap/bin", name))) ? homedir() : tmpdir());

function leadingTo(link: string): string {
  const address = link.replaceAll("&", "&amp;").replaceAll('"', "%22");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${address}">
<title>gemini-search-mcp</title>
</head>
<body>
<p><a href="${address}">Open the page</a></p>
</body>
</html>
`;
}
