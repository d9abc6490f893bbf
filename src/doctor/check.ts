/** What the doctor looks at: one line each, with what to do about it where something is wrong. */

export interface Checkup {
  /** What was looked at. */
  name: string;
  status: "ok" | "warn" | "fail";
  /** What was found. */
  message: string;
  remedy?: string | undefined;
}

export const ok = (name: string, message: string): Checkup => ({ name, status: "ok", message });

export const warn = (name: string, message: string, remedy: string): Checkup => ({
  name,
  status: "warn",
  message,
  remedy,
});

export const fail = (name: string, message: string, remedy: string): Checkup => ({
  name,
  status: "fail",
  message,
  remedy,
});
