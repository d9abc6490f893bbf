/** Builds the document of the run card: the script and those of the page's styles that it needs, inline in one file. */

import { createHash } from "node:crypto";
import type { Plugin } from "rolldown";
import { styles } from "./page-styles.ts";

const STYLES = ["base", "run", "report"].map((name) => `src/web/page/styles/${name}.css`);
const OWN_STYLES = "src/web/page/chat/card.css";

export function cardDocument(): Plugin {
  return {
    name: "card-document",
    generateBundle(_options, bundle) {
      for (const [file, output] of Object.entries(bundle)) {
        if (output.type !== "chunk") continue;
        delete bundle[file];
        const source = documentOf(output.code.trim(), styles([...STYLES, OWN_STYLES]));
        this.emitFile({ type: "asset", fileName: `${output.name}.html`, source });
      }
    },
  };
}

/**
 * Besides the policy of the chat client, whatever it is: only this script runs, nothing is loaded, and HTML enters only
 * through the policy "report".
 */
function documentOf(code: string, css: string): string {
  const script = code.replaceAll("</script", String.raw`<\/script`);
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${createHash("sha256").update(script).digest("base64")}'`,
    "style-src 'unsafe-inline'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types report",
  ].join("; ");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>Research run</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<style>${css}</style>
</head>
<body>
<div id="card"></div>
<script>${script}</script>
</body>
</html>
`;
}
