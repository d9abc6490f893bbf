/** Settings of the checks of citations. */

import { z } from "zod";
import { setting } from "./setting.ts";

export const VERIFICATION_SETTINGS = {
  VERIFY_CITATIONS: setting<"on-request" | "auto">({
    schema: z.enum(["on-request", "auto"]),
    default: "on-request",
    about:
      "`auto` fetches the pages that each finished report cites and compares them with its claims; otherwise that happens only when a user asks for it. docs/google-terms.md explains why it is off by default.",
  }),
  VERIFY_JUDGE: setting<"off" | "gemini">({
    schema: z.enum(["off", "gemini"]),
    default: "off",
    about:
      "`gemini` asks a small model about each cited claim that the comparison of texts does not confirm, for about $0.002 each, estimated from list prices (needs GEMINI_API_KEY).",
  }),
  VERIFY_JUDGE_MODEL: setting<string>({
    schema: z
      .string()
      .trim()
      .regex(/^[a-z0-9][a-z0-9.-]{2,80}$/),
    default: "gemini-3.8-flash",
    about: "Model of VERIFY_JUDGE.",
  }),
} as const;
