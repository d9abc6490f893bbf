/** Builds what rolldown.config.ts describes, and says something only when it goes wrong. */

import { build } from "rolldown";
import configurations from "../rolldown.config.ts";

await build(configurations);
