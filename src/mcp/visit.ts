/** Who speaks through a door: whose runs are seen, and what may be done from there. */

export interface Caller {
  owner: string;
  from: "here" | "network";
}

/** The user at this machine: stdio, the terminal, and whoever holds the server's own token. */
export const LOCAL: Caller = { owner: "local", from: "here" };

/** What one connection, session or request is served with. */
export interface Visit {
  caller: Caller;
  era: "legacy" | "modern";
}
