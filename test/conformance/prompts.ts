/** Fixture prompts: plain, with completed arguments, with a resource, with an image, with requested input. */

import {
  acceptedContent,
  type CompleteResult,
  type GetPromptRequest,
  type GetPromptResult,
  inputRequired,
  type InputRequiredResult,
  type Prompt,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { form } from "./asking-tools.ts";
import { embedded, PIXEL } from "./content-tools.ts";

interface FixturePrompt {
  announced: Prompt;
  get: (given: Record<string, string>, context: ServerContext) => GetPromptResult | InputRequiredResult;
}

const text = (content: string) => ({ type: "text" as const, text: content });
const fromUser = (...contents: GetPromptResult["messages"][number]["content"][]): GetPromptResult => ({
  messages: contents.map((content) => ({ role: "user", content })),
});

const prompt = (name: string, names: string[], get: FixturePrompt["get"]): FixturePrompt => ({
  announced: { name, description: "A fixture.", arguments: names.map((one) => ({ name: one, required: true })) },
  get,
});

const PROMPTS: FixturePrompt[] = [
  prompt("test_simple_prompt", [], () => fromUser(text("This is a simple prompt for testing."))),
  prompt("test_prompt_with_arguments", ["arg1", "arg2"], ({ arg1, arg2 }) =>
    fromUser(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  ),
  prompt("test_prompt_with_embedded_resource", ["resourceUri"], ({ resourceUri = "" }) =>
    fromUser(
      embedded(resourceUri, "text/plain", "Embedded resource content for testing."),
      text("Please process the embedded resource above."),
    ),
  ),
  prompt("test_prompt_with_image", [], () => fromUser(PIXEL, text("Please analyze the image above."))),
  prompt("test_input_required_result_prompt", [], (_given, { mcpReq }) => {
    const answer = acceptedContent(mcpReq.inputResponses, "user_context");
    if (answer !== undefined) return fromUser(text(`Context: ${String(answer["context"])}`));
    const question = form("What context should the prompt use?", { context: { type: "string" } });
    return inputRequired({ inputRequests: { user_context: question } });
  }),
];

const named = (name: string): FixturePrompt | undefined => PROMPTS.find(({ announced }) => announced.name === name);

export const FIXTURE_PROMPTS: Prompt[] = PROMPTS.map(({ announced }) => announced);

/** Returns undefined for an unknown prompt. */
export const getFixturePrompt = ({ name, arguments: given = {} }: GetPromptRequest["params"], context: ServerContext) =>
  named(name)?.get(given, context);

/** Returns undefined for an unknown prompt. */
export function completeFixturePrompt(name: string, typed: string): CompleteResult | undefined {
  if (named(name) === undefined) return undefined;
  const values = ["test", "testing"].filter((word) => word.startsWith(typed));
  return { completion: { values, total: values.length, hasMore: false } };
}
