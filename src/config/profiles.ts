/** Profiles: tools in the shape that one client expects, beside the others. */

import { z } from "zod";

const PROFILES = ["chatgpt"] as const;

export type Profile = (typeof PROFILES)[number];

export const PROFILE_CHOICES = `Choose ${PROFILES.join(", ")}.`;

export const profileSchema = z.enum(PROFILES);

export const parseProfile = (value: string): Profile | undefined => PROFILES.find((profile) => profile === value);
