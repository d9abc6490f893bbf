import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { browserCommand, openBrowser } from "./open-browser.ts";
import { waitFor } from "../../../test/kit/wait-for.ts";

const URL = "http://127.0.0.1:3000/enter/code?to=%2Fruns%2F1";
let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "gemini-search-browser-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function script(name: string, body: string): string {
  mkdirSync(join(directory, "bin"), { recursive: true });
  const file = join(directory, "bin", name);
  writeFileSync(file, `#!/bin/sh\n${body}\n`);
  chmodSync(file, 0o755);
  return file;
}

describe("the program that opens the page", () => {
  const DARK = "no display";
  test.each<[string, NodeJS.Platform, Record<string, string>, unknown]>([
    ["macOS", "darwin", {}, { program: "/usr/bin/open", args: [URL] }],
    ["macOS in a remote session", "darwin", { SSH_CONNECTION: "a b" }, "remote session"],
    ["Linux without a screen", "linux", { PATH: "/usr/bin" }, DARK],
    ["Linux with an empty DISPLAY", "linux", { PATH: "/usr/bin", DISPLAY: "" }, DARK],
    ["Linux in a remote session", "linux", { SSH_CONNECTION: "a b" }, "remote session"],
    ["Linux without xdg-open", "linux", { DISPLAY: ":0", PATH: "." }, "xdg-open is not installed"],
    ["BROWSER=none", "linux", { BROWSER: "none", DISPLAY: ":0" }, "BROWSER is none"],
    [
      "a BROWSER that is not installed",
      "linux",
      { BROWSER: "no-such-browser" },
      "the program in BROWSER was not found",
    ],
    ["a BROWSER with arguments", "linux", { BROWSER: "/opt/b --new" }, { program: "/opt/b", args: ["--new", URL] }],
    [
      "a BROWSER with a placeholder for the URL",
      "darwin",
      { BROWSER: "/opt/b u=%s x" },
      { program: "/opt/b", args: [`u=${URL}`, "x"] },
    ],
  ])("is chosen by platform, session and BROWSER: %s", (_name, platform, environment, expected) => {
    expect(browserCommand(URL, environment, platform)).toEqual(expected);
  });

  test("on Windows is the URL handler itself, without a shell", () => {
    const command = browserCommand(URL, { SystemRoot: "C:\\Windows" }, "win32");
    expect(command).toMatchObject({ args: ["url.dll,FileProtocolHandler", URL] });
    expect(command).toHaveProperty("program", expect.stringMatching(/rundll32\.exe$/));
  });

  test("on Linux with a display is xdg-open by its absolute path", () => {
    const program = script("xdg-open", "exit 0");
    const environment = { WAYLAND_DISPLAY: "wayland-0", PATH: join(directory, "bin") };
    expect(browserCommand(URL, environment, "linux")).toEqual({ program, args: [URL] });
  });
});

describe.skipIf(process.platform === "win32")("opening a URL", () => {
  test("passes the address and none of our secrets to the program", async () => {
    const seen = join(directory, "seen");
    const program = script("browser", `{ printf '%s\\n' "$@"; env; } > "${seen}.new" && mv "${seen}.new" "${seen}"`);
    const environment = {
      BROWSER: `${program} --flag`,
      PATH: process.env["PATH"],
      LANG: "C",
      MCP_AUTH_TOKEN: "secret-of-ours",
      GEMINI_API_KEY: "secret-of-ours",
      GOOGLE_API_KEY: "secret-of-ours",
    };
    expect(await openBrowser(URL, { environment })).toBeUndefined();
    await waitFor(() => expect(existsSync(seen)).toBe(true));
    const text = readFileSync(seen, "utf8");
    expect(text.split("\n").slice(0, 2)).toEqual(["--flag", URL]);
    expect(text).toContain("LANG=C");
    expect(text).not.toContain("secret-of-ours");
  });

  test("returns a reason if the program is missing or fails, and throws nothing", async () => {
    const missing = join(directory, "no-such-program");
    const grumbling = script("browser", "exit 3");
    for (const browser of [missing, grumbling]) {
      const why = await openBrowser(URL, { environment: { BROWSER: browser }, failureWindowMs: 60_000 });
      expect(why).toBe("the browser could not be started");
    }
  });
});
