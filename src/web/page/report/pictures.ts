/** Loads the pictures of a report: by script, because an address in the HTML could not carry what the server asks for. */

import { fetchOwn } from "../app/request.ts";

export async function loadPictures(report: HTMLElement, taskId: string, signal: AbortSignal): Promise<void> {
  for (const image of report.querySelectorAll<HTMLImageElement>("img[data-picture]")) {
    const address = `/api/runs/${taskId}/pictures/${image.dataset["picture"]}`;
    const answer = await fetchOwn(address, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    // Without it the alternative text stands there.
    if (answer?.ok === true) image.src = await dataAddress(await answer.blob());
  }
}

/** The page's policy allows pictures as data and from nowhere else. */
const dataAddress = (blob: Blob): Promise<string> =>
  new Promise((resolve) => {
    const reader = new FileReader();
    reader.addEventListener("loadend", () => resolve(typeof reader.result === "string" ? reader.result : ""));
    reader.readAsDataURL(blob);
  });
