/** Hostile text in every field of runs, everything that a user might do with it on a page, and a trap for requests. */

import { once } from "node:events";
import { createServer } from "node:net";
import type { Frame, Page } from "playwright-core";
import type { TestContext } from "vitest";
import { sampleId, type SampleRun } from "../kit/browser/sample-runs.ts";
import { PAYLOADS } from "./xss-payloads.ts";

export const HOSTILE_RUNS = 6;
/** In every report and in no question, so that a search finds all and shows excerpts. */
export const WORD = "quicksilver";

/** A URL that must not be requested, and the requests it received. */
export async function openCanary({ onTestFinished }: TestContext): Promise<{ address: string; asked: string[] }> {
  const asked: string[] = [];
  const canary = createServer((socket) => {
    asked.push("somebody connected to the watched address");
    socket.on("error", () => undefined).destroy();
  });
  canary.listen(0, "127.0.0.1");
  await once(canary, "listening");
  onTestFinished(() => void canary.close());
  const bound = canary.address();
  return { address: `http://127.0.0.1:${typeof bound === "object" && bound !== null ? bound.port : 0}/x`, asked };
}

export function hostileRuns(address: string): SampleRun[] {
  const texts = PAYLOADS.map(({ id, text }) => text({ run: `hit(${id})`, address }));
  const share = Math.ceil(texts.length / HOSTILE_RUNS);
  return Array.from({ length: HOSTILE_RUNS }, (_, index) => {
    const own = texts.slice(index * share, (index + 1) * share);
    const at = Date.now() - (index + 1) * 60_000;
    return {
      row: {
        task_id: sampleId(index + 1),
        query: own.join(" ").slice(0, 9_000),
        status: index === 0 ? "failed" : "completed",
        created_at: at,
        completed_at: at + 30_000,
        cost_usd: 1,
        client: own[0] ?? "",
        model: own[1] ?? "",
        current_action: own[2] ?? "",
        interaction_id: own[3] ?? "",
        estimate_json: JSON.stringify({ usd: { min: 1, likely: 2, max: 3 } }),
        ...(index === 0 && { error_code: "RESEARCH_FAILED", error_message: own.join(" ").slice(0, 500) }),
      },
      report: {
        markdown: own.map((text) => `${text}\n\nsafe ${WORD} [1] <b>${text}`).join("\n\n"),
        sources: own.map((text, n) => ({
          n: n + 1,
          title: text,
          url: n % 2 === 0 ? text : `${address}?${n}`,
          domain: text,
        })),
        metadata: { note: own.join(" ").slice(0, 2_000) },
      },
      events: own.map((text, n) => ({ kind: n % 2 === 0 ? "thought" : "search", text: `**${text}**\n\n${text}`, at })),
    };
  });
}

/** Everything that could run, load, navigate or cover the page. */
export const hostileSuggestions = (
  address: string,
): string => `<style>:host { position: fixed !important; inset: 0; z-index: 9 } .container { position: fixed; inset: 0; z-index: 9 } *, main { visibility: visible }</style><style>@import "${address}/import"; body { background: url(${address}/background) }</style>
<base href="${address}/"><meta http-equiv="refresh" content="0;url=${address}/refresh">
<link rel="stylesheet" href="${address}/sheet"><link rel="preconnect" href="${address}/"><link rel="prefetch" href="${address}/next">
<script>parent.hit?.("script"); top.location = "${address}/top"</script><script src="${address}/script"></script>
<img src="${address}/image" onerror="parent.hit?.('error')"><svg onload="parent.hit?.('load')"><image href="${address}/svg"/></svg>
<iframe src="${address}/frame"></iframe><object data="${address}/object"></object><video src="${address}/video" autoplay></video>
<svg><style><![CDATA[</style></svg><img src="${address}/cdata" onerror="hit('cdata')"><a href="${address}/cdata">from a style</a>]]></style></svg>
<svg fill="url(${address}/fill)"><path d="M0 0h9v9z" fill="url(${address}/fill#f)"/></svg>
<form action="${address}/form"><button id="send">Send</button></form>
<div class="container"><a class="chip" href="${address}/link">elsewhere</a><a class="chip" href="javascript:parent.hit('link')">script</a>
<a class="chip" href="https://www.google.com/search?q=lakes" target="_self">lakes</a><a class="chip" href="https://www.google.com.evil.example/">like Google</a></div>`;

/** Every interaction with untrusted content; the page's own buttons would act. */
export const TOUCH = `(() => {
  const seen = [];
  for (const details of document.querySelectorAll("details")) details.open = true;
  const strange = "script, iframe, frame, object, embed, math, base, meta, link, template, img, video, audio, picture, style";
  // Search Suggestions are in a sandboxed frame.
  const isFrame = (element) => element.matches(".suggestions > iframe[sandbox='allow-popups allow-popups-to-escape-sandbox']");
  for (const element of document.querySelectorAll("main *, main")) {
    if (isFrame(element)) continue;
    if (element.matches(strange)) seen.push("there is a " + element.outerHTML.slice(0, 80));
    for (const { name, value } of element.attributes) {
      if (/^on|^srcdoc$|^ping$|^formaction$/.test(name)) seen.push("there is " + name + "=" + value.slice(0, 40));
    }
    if (element.localName === "a" && element.hasAttribute("href")) {
      const isOut = /^https?:$/.test(element.protocol) && element.host !== location.host;
      if (isOut ? element.target !== "_blank" || !element.rel.includes("noopener") : element.host !== location.host)
        seen.push("there is a link to " + element.getAttribute("href"));
    }
    for (const type of ["pointerover", "mouseover", "mousemove", "pointerdown", "mousedown"]) {
      element.dispatchEvent(new MouseEvent(type, { bubbles: true, cancelable: true }));
    }
    if (element.matches(".report-text *, .entry *, .sources *") && element.closest("a, summary, button, label") === null) {
      element.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
      element.focus?.();
    }
  }
  return seen;
})()`;

/** Everything that was triggered before has finished by then. */
export const SETTLE = `new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(resolve))))`;

export async function touch(page: Page | Frame, what: string): Promise<string[]> {
  await page.evaluate(SETTLE);
  const seen = await page.evaluate<string[]>(TOUCH);
  await page.evaluate(SETTLE);
  return seen.map((sentence) => `${what}: ${sentence}`);
}
