/** Installs operating system packages on a CI machine before the first test, because no test has the time to wait. */

import { ensureTestPackages } from "../../../scripts/system-packages.ts";

export default async function setup(): Promise<void> {
  await ensureTestPackages();
}
