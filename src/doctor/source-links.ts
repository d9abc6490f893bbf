/** How Google's redirect links among the sources are treated: the operator decides, and is told how it is set. */

import type { Config } from "../config/config.ts";
import { type Checkup, ok } from "./check.ts";

export const checkSourceLinks = ({ settings }: Config): Checkup =>
  ok(
    "source links",
    settings.RESOLVE_SOURCE_LINKS
      ? "Google's redirect links are resolved once, when a run ends (RESOLVE_SOURCE_LINKS=true)."
      : "Google's redirect links are kept as they are; RESOLVE_SOURCE_LINKS=true resolves them (docs/google-terms.md).",
  );
