/** The security corpus with all its variants: one finding per theme, which fails on a single successful attack. */

import { tryCrowd } from "../../test/security/clients.ts";
import { ENDLESS_CHILDREN, tryEndlessChildren, tryFloodsFromUpstream } from "../../test/security/floods.ts";
import { tryHiddenCharacters } from "../../test/security/hidden-characters.ts";
import { HIDDEN_TEXTS } from "../../test/security/hidden-texts.ts";
import { tryHostileJson } from "../../test/security/hostile-json.ts";
import { trySwappedLinks, tryWaysOut } from "../../test/security/output-paths.ts";
import { tryOwners } from "../../test/security/owners.ts";
import { tryRawRequests } from "../../test/security/raw-http.ts";
import { tryRecursion } from "../../test/security/recursion.ts";
import { trySecrets } from "../../test/security/secrets.ts";
import type { Stage, Verdict } from "../../test/security/trial.ts";
import { tryUpstreamText } from "../../test/security/upstream-text.ts";
import { openHttpScene } from "../../test/kit/server/http-server.ts";
import { type Experiment, type Finding, type LabSetting, scaled } from "../experiment.ts";

const CLIENTS = 50;
const CALLS = 10_000;
const SWAPS = 1_000;
/** Nested hidden texts, in addition to those of the corpus. */
const MIXED_TEXTS = 500;

interface Theme {
  promise: string;
  attempt(stage: Stage, setting: LabSetting): Promise<Verdict>;
}

const THEMES: readonly Theme[] = [
  { promise: "T5 levels of recursion through the Gemini CLI", attempt: tryRecursion },
  { promise: "T9 leaks of a key or a token", attempt: trySecrets },
  { promise: "T10 reports outside the owner's directory, by name or link", attempt: tryWaysOut },
  {
    promise: "T10 reports outside it, by a link created meanwhile",
    attempt: (stage, setting) => trySwappedLinks(stage, scaled(setting, SWAPS / 2)),
  },
  {
    promise: "T13 malformed or ambiguous requests accepted",
    attempt: async (stage) => tryRawRequests(await (await openHttpScene(stage)).http()),
  },
  {
    promise: "T14 text of one client in the response to another",
    attempt: (stage, setting) => {
      const calls = Math.max(2, Math.ceil(scaled(setting, CALLS) / CLIENTS));
      return tryCrowd(stage, { clients: CLIENTS, calls: calls + (calls % 2) });
    },
  },
  { promise: "T14 accesses to another user's runs", attempt: tryOwners },
  {
    promise: "T16 endless children that were not stopped",
    attempt: (stage) => tryEndlessChildren(stage, ENDLESS_CHILDREN),
  },
  { promise: "T16 endless responses that were not stopped", attempt: tryFloodsFromUpstream },
  {
    promise: "T17 hidden characters in the output",
    attempt: (stage, setting) => tryHiddenCharacters(stage, [...HIDDEN_TEXTS, ...mixedTexts(setting)]),
  },
  { promise: "T18 upstream text in an answer", attempt: tryUpstreamText },
  { promise: "T24 hostile JSON with an effect", attempt: tryHostileJson },
];

export const security: Experiment = {
  name: "security",
  about:
    "All attacks of the security corpus with all their variants: recursion, secrets through failures, paths out of the output directory, raw HTTP, many clients and several owners, endless output, hidden characters, upstream text, hostile JSON.",
  minutes: 20,
  covers: "T5, T9, T10, T13, T14, T16, T17, T18, T24",
  run: async (setting) => {
    const findings: Finding[] = [];
    for (const { promise, attempt } of THEMES) {
      const { tried, broken } = await staged((stage) => attempt(stage, setting));
      setting.print(`${promise}: ${broken.length} of ${tried}`);
      for (const sentence of broken.slice(0, 20)) setting.print(`BROKEN: ${sentence}`);
      findings.push({ promise, target: "0", measured: `${broken.length} of ${tried}`, met: broken.length === 0 });
    }
    return findings;
  },
};

/** Cleans up after each theme before the next one begins, in reverse order. */
async function staged(attempt: (stage: Stage) => Promise<Verdict>): Promise<Verdict> {
  const ends: (() => unknown)[] = [];
  try {
    return await attempt({ onTestFinished: (end) => void ends.unshift(() => Reflect.apply(end, undefined, [])) });
  } finally {
    for (const end of ends) await end();
  }
}

function mixedTexts(setting: LabSetting): string[] {
  let state = setting.seed;
  const some = (count: number): number => (state = (state * 48_271) % 2_147_483_647) % count;
  const one = (): string => HIDDEN_TEXTS[some(HIDDEN_TEXTS.length)] ?? "";
  return Array.from({ length: scaled(setting, MIXED_TEXTS) }, () => {
    const outer = one();
    const at = some(outer.length);
    return outer.slice(0, at) + one() + outer.slice(at);
  });
}
