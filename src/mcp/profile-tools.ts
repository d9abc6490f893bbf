/** The tools of a profile, which take the place of those with the same name. */

import type { Tool } from "@modelcontextprotocol/server";
import type { Profile } from "../config/tool-sets.ts";
import type { Operation } from "../operations/operation.ts";
import announced from "./announced-tools.json" with { type: "json" };

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by a script from the very type
const CHATGPT_TOOLS = announced.chatgptTools as Tool[];

/** The profile's tools first, whatever the tool set. */
export function withProfile(tools: readonly Tool[], profile: Profile | undefined): Tool[] {
  if (profile === undefined) return [...tools];
  return [...CHATGPT_TOOLS, ...tools.filter((tool) => !isProfileTool(tool.name))];
}

const isProfileTool = (name: string): boolean => CHATGPT_TOOLS.some((tool) => tool.name === name);

export async function findProfileOperation(name: string, profile: Profile | undefined): Promise<Operation | undefined> {
  if (profile === undefined || !isProfileTool(name)) return undefined;
  const { CHATGPT_OPERATIONS } = await import("../operations/chatgpt.ts");
  return CHATGPT_OPERATIONS.find((operation) => operation.name === name);
}
