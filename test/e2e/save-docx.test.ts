/** Word documents from the command and the page, opened by LibreOffice. */

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { ensureSystemPackages } from "../../scripts/system-packages.ts";
import { openHttpScene } from "../kit/server/http-server.ts";

const OFFICE = await ensureSystemPackages(["libreoffice-writer-nogui"], { commands: ["soffice"] });
const QUERY = "How do heat pumps perform in cold climates?";

test.skipIf(OFFICE === "missing")(
  "LibreOffice opens a saved Word document and shows all of it (N7)",
  async (context) => {
    const scene = await openHttpScene(context);
    const { stdout } = await scene.command(["search", QUERY, "--json"]);
    const { metadata } = JSON.parse(stdout);
    const { report } = JSON.parse((await scene.command(["show", metadata.task_id, "--json"])).stdout);
    const file = join(scene.configDir, "Heat pumps.docx");
    expect((await scene.command(["save", metadata.task_id, "-o", file])).stdout).toBe(`${file}\n`);
    const server = await scene.http();
    const response = await server.request(`/api/runs/${metadata.task_id}/report.docx`);
    expect(response.headers.get("content-type")).toMatch(/wordprocessingml\.document$/);
    const downloaded = join(scene.configDir, "downloaded.docx");
    writeFileSync(downloaded, Buffer.from(await response.arrayBuffer()));

    const shown = opened(file, { to: "txt", in: scene.configDir }).toString();
    expect(shown.replace(/^\uFEFF/, "").split("\n")[0]).toBe(QUERY);
    const words = (text: string): string[] =>
      text.replaceAll(/\[cite[^\]]*\]|\[\d+\]|\]\([^)]*\)/g, " ").match(/\p{L}{4,}/gu) ?? [];
    const seen = new Set(words(shown));
    expect(words(report).filter((word) => !seen.has(word))).toEqual([]);
    expect(shown).toMatch(/^Sources$/m);
    expect(shown).toMatch(/^Google Search Suggestions: \S/m);
    expect(shown).toContain(`Task ID: ${metadata.task_id}`);
    const withoutClock = (text: string): string => text.replace(/^Saved: .*$/m, "");
    expect(withoutClock(opened(downloaded, { to: "txt", in: scene.configDir }).toString())).toBe(withoutClock(shown));
    expect(opened(file, { to: "pdf", in: scene.configDir }).toString("latin1", 0, 5)).toBe("%PDF-");
  },
);

/** What LibreOffice makes of a file in another format. */
function opened(file: string, { to, in: directory }: { to: string; in: string }): Buffer {
  const profile = join(directory, "office");
  mkdirSync(profile, { recursive: true });
  const options = [`-env:UserInstallation=${pathToFileURL(profile).href}`, "--headless", "--convert-to"];
  const format = to === "txt" ? "txt:Text (encoded):UTF8" : to;
  execFileSync("soffice", [...options, format, "--outdir", directory, file], { stdio: "pipe", timeout: 120_000 });
  return readFileSync(join(directory, `${basename(file, ".docx")}.${to}`));
}
