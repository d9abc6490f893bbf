/** Sends one request at a time, with what is pending and the error of the last one. */

import { useRef, useState } from "preact/hooks";

export function useSending<Name>() {
  const [pending, setPending] = useState<Name | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  // A second click can come before the button is rendered as disabled.
  const busy = useRef(false);
  /** Resolves to whether the server did it. While a request is pending, further ones are ignored. */
  const send = async (name: Name, request: () => Promise<void>): Promise<boolean> => {
    if (busy.current) return false;
    busy.current = true;
    setPending(name);
    setError(undefined);
    try {
      await request();
      return true;
    } catch (refusal) {
      setError(refusal);
      return false;
    } finally {
      busy.current = false;
      setPending(undefined);
    }
  };
  return { pending, error, send, forget: () => setError(undefined) };
}
