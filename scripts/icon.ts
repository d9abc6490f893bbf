/** Draws assets/icon.png (512 × 512) from assets/icon.svg with Chromium: `npx node scripts/icon.ts`. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { startBrowser } from "../test/kit/browser/browser.ts";

const SIZE = 512;
const ASSETS = resolve(import.meta.dirname, "../assets");

const browser = await startBrowser();
try {
  const page = await browser.newPage({ viewport: { width: SIZE, height: SIZE }, deviceScaleFactor: 1 });
  const svg = readFileSync(resolve(ASSETS, "icon.svg"), "utf8");
  await page.setContent(`<style>body{margin:0}svg{display:block;width:${SIZE}px;height:${SIZE}px}</style>${svg}`);
  await page.screenshot({ path: resolve(ASSETS, "icon.png"), omitBackground: true });
} finally {
  await browser.close();
}
