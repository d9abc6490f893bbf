/** Port to the machine-wide limit on Gemini CLI processes (C9). */

export interface Slots {
  /** Resolves with the function that releases the slot. `onWait` is called once if the call has to wait. */
  take(options: { signal: AbortSignal; onWait: () => void }): Promise<() => void>;
}
