/** SEARCH_BACKEND=auto: uses the CLI if it is installed and signed in, otherwise the API if a key is set. */

import { AppError } from "../errors.ts";
import type { Log } from "../platform/log.ts";
import { nothingConfigured } from "./cli/failures.ts";
import { type Backend, PaidFailure } from "./search-backend.ts";

interface AutoBackendOptions {
  cli: Backend & { isInstalled(): boolean };
  api: Backend;
  /** Whether a key or Vertex AI is set. */
  apiReady: boolean;
  log: Log;
}

const SIGNED_OUT =
  "The Gemini CLI cannot sign in (Google ended consumer logins for it on 2026-06-18); the Gemini API was used instead.";

export function createAutoBackend({ cli, api, apiReady, log }: AutoBackendOptions): Backend {
  let signedOut = false;
  return {
    name: "auto",
    obstacle: () => (apiReady || cli.isInstalled() ? undefined : nothingConfigured()),
    ask: async (request) => {
      if (!apiReady) return cli.ask(request);
      if (!signedOut) {
        // `doctor` says that no CLI was found; it is no news with each answer.
        if (!cli.isInstalled()) return api.ask(request);
        try {
          return await cli.ask(request);
        } catch (error) {
          const vanished = error instanceof AppError && error.code === "CLI_NOT_FOUND";
          // A CLI that a model has answered was signed in; another backend's answer would hide what it used.
          const refused = error instanceof AppError && error.reason === "auth" && !(error instanceof PaidFailure);
          if (!vanished && !refused) throw error;
          if (vanished) return api.ask(request);
          signedOut = true;
          (request.log ?? log).warn(SIGNED_OUT);
        }
      }
      const answer = await api.ask(request);
      return { ...answer, notices: [...answer.notices, SIGNED_OUT] };
    },
  };
}
