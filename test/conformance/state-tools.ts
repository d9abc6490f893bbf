/** Fixtures whose input requests carry a sealed state, which the client has to return unchanged. */

import { acceptedContent, createRequestStateCodec, inputRequired, inputResponse } from "@modelcontextprotocol/server";
import { askModel, askName, form } from "./asking-tools.ts";
import { type Fixture, type FixtureCall, named, textResult } from "./fixture.ts";

/** One process serves all rounds, so a random key is enough. */
export const SEAL = createRequestStateCodec<string>({ key: crypto.getRandomValues(new Uint8Array(32)) });

const stateOf = ({ context }: FixtureCall): unknown => context.mcpReq.requestState();

const agreeing = (name: string): Fixture => ({
  tool: named(name, "Asks for an agreement under a sealed state."),
  run: async (call) => {
    const agreed = acceptedContent(call.answers, "confirm") !== undefined && stateOf(call) === name;
    if (agreed) return textResult("state-ok");
    const confirm = form("Please confirm", { ok: { type: "boolean" } });
    return inputRequired({ inputRequests: { confirm }, requestState: await SEAL.mint(name) });
  },
});

export const STATE_TOOLS: Fixture[] = [
  agreeing("test_input_required_result_request_state"),
  agreeing("test_input_required_result_tampered_state"),
  {
    tool: named("test_input_required_result_multiple_inputs", "Asks for three things at once."),
    run: async ({ answers }) => {
      const inputRequests = {
        user_name: askName(),
        greeting: askModel("Generate a greeting"),
        client_roots: inputRequired.listRoots(),
      };
      const complete = Object.keys(inputRequests).every((key) => inputResponse(answers, key).kind !== "missing");
      return complete
        ? textResult("All three are there.")
        : inputRequired({ inputRequests, requestState: await SEAL.mint("three") });
    },
  },
  {
    tool: named("test_input_required_result_multi_round", "Asks twice, the second question after the first answer."),
    run: async (call) => {
      if (stateOf(call) === "color" && acceptedContent(call.answers, "step2") !== undefined)
        return textResult("Thank you.");
      if (stateOf(call) === "name" && acceptedContent(call.answers, "step1") !== undefined) {
        const step2 = form("Step 2: What is your favorite color?", { color: { type: "string" } });
        return inputRequired({ inputRequests: { step2 }, requestState: await SEAL.mint("color") });
      }
      const step1 = form("Step 1: What is your name?", { name: { type: "string" } });
      return inputRequired({ inputRequests: { step1 }, requestState: await SEAL.mint("name") });
    },
  },
];
