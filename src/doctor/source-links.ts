/** Reports whether Google's redirect links among the sources are resolved. */

import type { Config } from "../config/config.ts";
import { type CheckResult, ok } from "./check.ts";

export const checkSourceLinks = ({ settings }: Config): CheckResult =>
  ok(
    "source links",
    settings.RESOLVE_SOURCE_LINKS
      ? "Google's redirect links are resolved once, when a run ends (RESOLVE_SOURCE_LINKS=true)."
      : "Google's redirect links are not resolved; RESOLVE_SOURCE_LINKS=true resolves them (docs/google-terms.md).",
  );
