/** What tests need of the operating system, brought to a CI machine before the first of them: none has the time to wait. */

import { ensureSystemPackages } from "../../../scripts/system-packages.ts";

const PACKAGES = {
  chromium: "chromium",
  "fonts-dejavu-core": undefined,
  tmux: "tmux",
  zsh: "zsh",
  fish: "fish",
  xvfb: "Xvfb",
  dbus: "dbus-daemon",
  "libnotify-bin": "notify-send",
  dunst: "dunst",
};

/** Elsewhere each test says for itself what it misses. */
export default async function setup(): Promise<void> {
  if (process.env["CI"] === undefined) return;
  const commands = Object.values(PACKAGES).filter((command) => command !== undefined);
  await ensureSystemPackages(Object.keys(PACKAGES), { commands });
}
