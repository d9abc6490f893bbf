/** What the forms of paid follow-ups share: sending once, and the price on the button. */

import type { Acted } from "../../wire.ts";
import { postJson } from "../app/request.ts";
import { money } from "../ui/amounts.ts";
import { announce } from "../ui/parts.tsx";
import { useSending } from "../ui/sending.ts";

interface Asking {
  error: unknown;
  pending: boolean;
  /** Returns whether it was accepted. */
  ask: (body: Record<string, unknown>) => Promise<boolean>;
}

/** Asks a follow-up on a run; `asked` is called afterwards, whatever the outcome. */
export function useAsking(taskId: string, asked: () => void): Asking {
  const { error, pending, send } = useSending<"ask">();
  const ask = (body: Record<string, unknown>): Promise<boolean> =>
    send("ask", async () => {
      try {
        const { joined } = await postJson<Acted>(`/api/runs/${taskId}/followup`, body);
        announce(joined === true ? "This was asked before; nothing is charged." : "Asked.");
      } finally {
        asked();
      }
    });
  return { error, pending: pending !== undefined, ask };
}

export const priced = (label: string, usd: number | undefined): string =>
  usd === undefined ? label : `${label} · about ${money(usd)}`;
