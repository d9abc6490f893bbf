/** The machine-wide cap on Gemini CLI processes (C9), as the backend needs it. */

export interface Slots {
  /** Resolves with the function that gives the slot back. `onWait` is called once if it has to wait. */
  take(options: { signal: AbortSignal; onWait: () => void }): Promise<() => void>;
}
