/** Installs operating system packages on a CI machine before the first test, because no test has the time to wait. */

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

/** Elsewhere each test reports what is missing. */
export default async function setup(): Promise<void> {
  if (process.env["CI"] === undefined) return;
  const commands = Object.values(PACKAGES).filter((command) => command !== undefined);
  await ensureSystemPackages(Object.keys(PACKAGES), { commands });
}
