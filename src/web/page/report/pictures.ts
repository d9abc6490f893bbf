/** Loads the pictures of a report by script, because an image URL in HTML could not carry the page's secret. */

import { fetchWithSecret } from "../app/request.ts";

export async function loadPictures(report: HTMLElement, taskId: string, signal: AbortSignal): Promise<void> {
  for (const image of report.querySelectorAll<HTMLImageElement>("img[data-picture]")) {
    const path = `/api/runs/${taskId}/pictures/${image.dataset["picture"]}`;
    const response = await fetchWithSecret(path, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    // If it fails, the alternative text is shown.
    if (response?.ok === true) image.src = await dataUrl(await response.blob());
  }
}

/** The page's policy allows only data URLs for images. */
const dataUrl = (blob: Blob): Promise<string> =>
  new Promise((resolve) => {
    const reader = new FileReader();
    reader.addEventListener("loadend", () => resolve(typeof reader.result === "string" ? reader.result : ""));
    reader.readAsDataURL(blob);
  });
