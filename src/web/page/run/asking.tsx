/** What the forms of paid follow-ups share: sending once, and the price on the button. */

import { useRef, useState } from "preact/hooks";
import type { Acted } from "../../wire.ts";
import { postJson } from "../app/request.ts";
import { money } from "../ui/amounts.ts";
import { announce } from "../ui/parts.tsx";

interface Asking {
  error: unknown;
  pending: boolean;
  /** Returns whether it was accepted. */
  ask: (body: Record<string, unknown>) => Promise<boolean>;
}

/** Asks a follow-up on a run; `asked` is called afterwards, whatever the outcome. */
export function useAsking(taskId: string, asked: () => void): Asking {
  const [error, setError] = useState<unknown>(undefined);
  const [pending, setPending] = useState(false);
  // A second click can come before the button is rendered as disabled.
  const sending = useRef(false);
  const ask = async (body: Record<string, unknown>): Promise<boolean> => {
    if (sending.current) return false;
    sending.current = true;
    setPending(true);
    setError(undefined);
    try {
      const { joined } = await postJson<Acted>(`/api/runs/${taskId}/followup`, body);
      announce(joined === true ? "This was asked before; nothing is charged." : "Asked.");
      return true;
    } catch (refusal) {
      setError(refusal);
      return false;
    } finally {
      sending.current = false;
      setPending(false);
      asked();
    }
  };
  return { error, pending, ask };
}

export const priced = (label: string, usd: number | undefined): string =>
  usd === undefined ? label : `${label} · about ${money(usd)}`;
