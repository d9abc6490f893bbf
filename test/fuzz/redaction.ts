/** Fuzz target: a known secret is removed in all its encodings, whatever surrounds it (T9). */

import { createRedactor } from "../../src/platform/redact.ts";
import { type FuzzTarget, must } from "./target.ts";

export const redaction: FuzzTarget = {
  name: "redaction",
  seeds: [
    "s3cret-key\nanother/secret\nGET https://x/?key=s3cret-key HTTP/1.1",
    'a b/"c"+d\nabcdef\n{"key":"a b/\\"c\\"+d"}',
    "abcabcabc\nabcabc\nabcabcabcabcabc",
    "AIzaSyAbcdefghijklmnopqrstuvwxyz0123456\n$&$1$`\ntext",
    "100%secret\nünïcödé-😀\n100%25secret",
  ],
  words: ["\n", "AIza", "%20", "%25", "\\", '"', "[FIRST]", "[SECOND]", "$&", "\uD800"],
  open: () => ({
    check: (input) => {
      const [first = "", second = "", ...rest] = input.split("\n");
      const redact = createRedactor({ FIRST: first, SECOND: second, NONE: undefined });
      const secrets = [first, second].filter((secret) => secret.length >= 6);
      const text = rest.join("\n");
      // A secret that is part of our own replacement text cannot be checked.
      if (secrets.some((secret) => "[FIRST] [SECOND] [API key]".includes(secret) || /[[\]]/.test(secret))) return "own";
      for (const secret of secrets) {
        for (const spelled of spellings(secret)) {
          const clean = redact(`${text}${spelled}${text}`);
          for (const spelling of secrets.flatMap(spellings)) {
            must(!clean.includes(spelling), "T9: no spelling of a secret is left.");
          }
          must(redact(clean) === clean, "T9: what is clean stays as it is.");
        }
      }
      const harmless = secrets.length === 0 && !text.includes("AIza");
      must(!harmless || redact(text) === text, "text without a secret stays as it is.");
      return `${secrets.length} ${redact(text) === text}`;
    },
  }),
};

const spellings = (secret: string): string[] => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  ...(secret.isWellFormed() ? [encodeURIComponent(secret)] : []),
];
