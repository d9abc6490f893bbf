/** Runs the build of rolldown.config.ts and prints only warnings and errors. */

import { build } from "rolldown";
import configurations from "../rolldown.config.ts";

await build(configurations);
