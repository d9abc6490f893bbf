/** Notifications of the browser about the end of runs, for which the user asked. They need this tab to be open. */

import { useEffect, useState } from "preact/hooks";
import type { RunLive } from "../../../operations/view/run-view.ts";
import { keep, readKept } from "../app/browser-storage.ts";
import { fetchJson } from "../app/request.ts";
import { go, runPath } from "../app/router.ts";
import { isUnfinished, nameOf } from "../ui/format.ts";
import { STATUS_LABELS } from "../../../runs/run.ts";

const KEY = "notify";
/** A hidden tab has no live stream, and browsers slow its timers down. */
const POLL_MS = 15_000;

const readIds = (): string[] => (readKept(KEY) ?? "").split(" ").filter((id) => id !== "");
const writeIds = (ids: string[]): void => keep(KEY, ids.length === 0 ? undefined : ids.join(" "));

type Answer = "unasked" | "granted" | "denied";

export function NotifyButton({ run }: { run: RunLive }) {
  const [answer, setAnswer] = useState<Answer>(() => (readIds().includes(run.task_id) ? "granted" : "unasked"));
  if (!isUnfinished(run.status) || typeof Notification === "undefined") return null;
  const ask = async (): Promise<void> => {
    const isGranted = (await Notification.requestPermission()) === "granted";
    if (isGranted) writeIds([...new Set([...readIds(), run.task_id])]);
    setAnswer(isGranted ? "granted" : "denied");
  };
  if (answer === "unasked") {
    return (
      <button type="button" class="button" onClick={() => void ask()}>
        Notify me
      </button>
    );
  }
  return (
    <span class="quiet small" role="status">
      {answer === "granted"
        ? "This browser will notify you when it ends, as long as this tab is open."
        : "This browser does not allow notifications from this page."}
    </span>
  );
}

/** Checks the runs of this tab; used by the frame, which is always mounted. */
export function useNotifications(): void {
  useEffect(() => {
    const timer = setInterval(() => {
      for (const id of readIds()) void check(id);
    }, POLL_MS);
    return () => clearInterval(timer);
  }, []);
}

async function check(id: string): Promise<void> {
  const run = await fetchJson<RunLive>(`/api/runs/${id}`).catch(() => undefined);
  if (run === undefined || isUnfinished(run.status) || !readIds().includes(id)) return;
  writeIds(readIds().filter((other) => other !== id));
  const notification = new Notification(STATUS_LABELS[run.status], { body: nameOf(run), tag: id });
  notification.addEventListener("click", () => {
    window.focus();
    go(runPath(id));
    notification.close();
  });
}
