/** The identity of a caller, established by the transport and passed to every operation. */

/** Owner of everything done on this machine: over stdio, on the command line, and with the server's own token. */
export const LOCAL_OWNER = "local";

export interface Caller {
  /** Whose runs the caller sees. */
  owner: string;
  /** From this machine, or over the network: then files are written inside the reports directory only. */
  from: "here" | "network";
}

export const LOCAL_CALLER: Caller = { owner: LOCAL_OWNER, from: "here" };

export const networkCaller = (owner: string): Caller => ({ owner, from: "network" });

/** Variables of a Hono context behind the authentication middleware. */
export interface CallerEnv {
  Variables: { caller: Caller };
}
