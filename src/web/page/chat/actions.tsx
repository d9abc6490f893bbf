/** Buttons of the card. None of them can start or approve anything that is paid for. */

import { useEffect, useState } from "preact/hooks";
import type { RunLive } from "../../../operations/view/run-view.ts";
import { announce } from "../ui/parts.tsx";
import { requestMode } from "./appearance.ts";
import type { Host, HostContext } from "./host.ts";
import type { HostTools } from "./host-tools.ts";

const SHOWN_MS = 3_000;

interface HostButtonProps {
  label: string;
  /** Shown after it worked. */
  done: string;
  act: () => Promise<void>;
}

export function HostButton({ label, done, act }: HostButtonProps) {
  const [shown, setShown] = useState(label);
  useEffect(() => {
    if (shown === label) return undefined;
    announce(shown);
    const timer = setTimeout(() => setShown(label), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [shown]);
  const click = (): void => {
    act().then(
      () => setShown(done),
      () => setShown(`${label}: try again`),
    );
  };
  return (
    <button type="button" class="button small" onClick={click}>
      {shown}
    </button>
  );
}

/** Asks once more, because a cancelled run cannot be continued. */
export function CancelButton({ run, tools }: { run: RunLive; tools: HostTools }) {
  const [step, setStep] = useState<"idle" | "asked" | "sent" | "failed">("idle");
  if (step === "sent" || run.cancel_requested_at !== undefined) return <span class="quiet">Cancelling…</span>;
  if (step === "idle") {
    return (
      <button type="button" class="button small" onClick={() => setStep("asked")}>
        Cancel run…
      </button>
    );
  }
  const cancel = (): void => {
    setStep("sent");
    tools.cancel(run.task_id).catch(() => setStep("failed"));
  };
  return (
    <div class="row" role="group" aria-label="Cancel the run">
      <span>
        {step === "failed"
          ? "It could not be cancelled. Try again?"
          : "Cancel it? What it has found is kept; what Google has charged stays charged."}
      </span>
      <button type="button" class="button small danger" onClick={cancel}>
        Cancel run
      </button>
      <button type="button" class="button small" onClick={() => setStep("idle")}>
        Keep running
      </button>
    </div>
  );
}

interface ModeButtonProps {
  host: Host;
  context: HostContext;
  setContext: (change: HostContext) => void;
}

export function ModeButton({ host, context, setContext }: ModeButtonProps) {
  const { displayMode = "inline", availableDisplayModes: modes = [] } = context;
  const next = displayMode === "fullscreen" ? "inline" : "fullscreen";
  if (!modes.includes(next)) return null;
  const change = (): void => {
    requestMode(host, next).then(
      (mode) => setContext({ displayMode: mode }),
      () => undefined,
    );
  };
  return (
    <button type="button" class="button small" onClick={change}>
      {next === "fullscreen" ? "Full screen" : "Back to the chat"}
    </button>
  );
}
