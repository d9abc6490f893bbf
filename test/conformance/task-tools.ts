/** Fixtures that become tasks: some are slow, fail in either way, or request input. */

import { setTimeout as wait } from "node:timers/promises";
import { acceptedContent, inputRequired, inputResponse, ProtocolError } from "@modelcontextprotocol/server";
import { askName, form } from "./asking-tools.ts";
import { type Fixture, named, textResult } from "./fixture.ts";

/** A code without a specified meaning. */
const REFUSED = -32_000;

const agreement = (message: string) => form(message, { confirm: { type: "boolean" } });

export const TASK_TOOLS: Fixture[] = [
  {
    tool: named("greet", "Greets, at once.", { name: { type: "string" } }),
    run: ({ input }) => textResult(`Hello, ${String(input["name"])}!`),
  },
  {
    tool: named("slow_compute", "Takes its time.", { seconds: { type: "number" }, label: { type: "string" } }),
    task: "optional",
    run: async ({ input, signal, progress }) => {
      progress("Computing");
      await wait(Number(input["seconds"]) * 1_000, undefined, { signal });
      return textResult(`Computed: ${String(input["label"])}`);
    },
  },
  {
    tool: named("failing_job", "Fails, as a task only."),
    task: "required",
    run: () => {
      throw new Error("This job always fails");
    },
  },
  {
    tool: named("protocol_error_job", "Fails without a result."),
    task: "optional",
    run: () => {
      throw new ProtocolError(REFUSED, "This job cannot be done");
    },
  },
  {
    tool: named("confirm_delete", "Asks before it deletes nothing.", { filename: { type: "string" } }),
    task: "optional",
    run: ({ input, answers }) => {
      const answer = inputResponse(answers, "agreement");
      if (answer.kind === "elicit") return textResult(`${String(input["filename"])}: ${answer.action}`);
      return inputRequired({ inputRequests: { agreement: agreement(`Delete ${String(input["filename"])}?`) } });
    },
  },
  {
    tool: named("multi_input", "Asks two things at once."),
    task: "optional",
    run: ({ answers }) => {
      const inputRequests = { first: agreement("The first?"), second: agreement("And the second?") };
      const complete = Object.keys(inputRequests).every((key) => inputResponse(answers, key).kind !== "missing");
      return complete ? textResult("Both were answered.") : inputRequired({ inputRequests });
    },
  },
  {
    tool: named("test_tool_with_task", "Asks for a name, then greets in a task."),
    task: "optional",
    before: ({ answers }) =>
      acceptedContent(answers, "user_name") === undefined
        ? inputRequired({ inputRequests: { user_name: askName() } })
        : undefined,
    run: ({ answers }) => textResult(`Hello, ${String(acceptedContent(answers, "user_name")?.["name"])}!`),
  },
];
