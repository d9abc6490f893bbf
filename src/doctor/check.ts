/** The result of one check of `doctor`, with a remedy if something is wrong. */

export interface CheckResult {
  name: string;
  status: "ok" | "warn" | "fail";
  message: string;
  remedy?: string | undefined;
}

export const ok = (name: string, message: string): CheckResult => ({ name, status: "ok", message });

export const warn = (name: string, message: string, remedy: string): CheckResult => ({
  name,
  status: "warn",
  message,
  remedy,
});

export const fail = (name: string, message: string, remedy: string): CheckResult => ({
  name,
  status: "fail",
  message,
  remedy,
});
