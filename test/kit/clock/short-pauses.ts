/** A tenth of each pause of a program; its time limits stay as they are. Loaded before it with `node --import`. */

import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers/promises";

const pause = timers.setTimeout;

timers.setTimeout = (ms = 0, value, options) => pause(ms / 10, value, options);
syncBuiltinESMExports();
