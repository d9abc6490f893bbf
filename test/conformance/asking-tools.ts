/** Fixtures that request input from the client: a form, a sampled message, the roots. */

import {
  acceptedContent,
  type ElicitRequestFormParams,
  inputRequired,
  inputResponse,
  type InputRequest,
} from "@modelcontextprotocol/server";
import { type Fixture, type FixtureCall, named, textResult } from "./fixture.ts";

type Form = ElicitRequestFormParams["requestedSchema"];

export const form = (message: string, properties: Form["properties"], required = Object.keys(properties)) =>
  inputRequired.elicit({ message, requestedSchema: { type: "object", properties, required } });

export const askName = () => form("What is your name?", { name: { type: "string" } });

export const askModel = (text: string) =>
  inputRequired.createMessage({ messages: [{ role: "user", content: { type: "text", text } }], maxTokens: 100 });

/** Requests the missing input; returns all of it once it is complete. */
function asking(tool: Fixture["tool"], requests: (call: FixtureCall) => Record<string, InputRequest>): Fixture {
  return {
    tool,
    run: (call) => {
      const wanted = requests(call);
      const missing = Object.entries(wanted).filter(([key]) => inputResponse(call.answers, key).kind === "missing");
      if (missing.length > 0) return inputRequired({ inputRequests: Object.fromEntries(missing) });
      const answers = Object.keys(wanted).map((key) => JSON.stringify(call.answers?.[key]));
      return textResult(`Answered: ${answers.join(", ")}`);
    },
  };
}

const OPTIONS = ["option1", "option2", "option3"];
const titled = (title: string) => [1, 2, 3].map((number) => ({ const: `value${number}`, title: `${title} ${number}` }));

/** For older clients: the SDK turns these into requests from the server. */
const OLDER: Fixture[] = [
  asking(named("test_sampling", "Asks the client's model.", { prompt: { type: "string" } }), ({ input }) => ({
    reply: askModel(String(input["prompt"])),
  })),
  asking(named("test_elicitation", "Asks the user.", { message: { type: "string" } }), ({ input }) => ({
    user: form(String(input["message"]), {
      username: { type: "string", description: "User's response" },
      email: { type: "string", description: "User's email address" },
    }),
  })),
  asking(named("test_elicitation_sep1034_defaults", "Asks the user, with defaults."), () => ({
    user: form("Please check these values.", {
      name: { type: "string", default: "John Doe" },
      age: { type: "integer", default: 30 },
      score: { type: "number", default: 95.5 },
      status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
      verified: { type: "boolean", default: true },
    }),
  })),
  asking(named("test_elicitation_sep1330_enums", "Asks the user to choose."), () => ({
    user: form("Please choose.", {
      untitledSingle: { type: "string", enum: OPTIONS },
      titledSingle: { type: "string", oneOf: titled("Option") },
      legacyEnum: {
        type: "string",
        enum: ["opt1", "opt2", "opt3"],
        enumNames: ["Option One", "Option Two", "Option Three"],
      },
      untitledMulti: { type: "array", items: { type: "string", enum: OPTIONS } },
      titledMulti: { type: "array", items: { anyOf: titled("Choice") } },
    }),
  })),
];

export const ASKING_TOOLS: Fixture[] = [
  ...OLDER,
  asking(named("test_missing_capability", "Needs a client with a model."), () => ({ reply: askModel("Hello") })),
  asking(named("test_streaming_elicitation", "Asks the user."), () => ({ user_name: askName() })),
  {
    tool: named("test_input_required_result_elicitation", "Greets the user by a name it asks for."),
    run: ({ answers }) => {
      const name = acceptedContent(answers, "user_name")?.["name"];
      return typeof name === "string"
        ? textResult(`Hello, ${name}!`)
        : inputRequired({ inputRequests: { user_name: askName() } });
    },
  },
  asking(named("test_input_required_result_sampling", "Asks the client's model."), () => ({
    capital_question: askModel("What is the capital of France?"),
  })),
  asking(named("test_input_required_result_list_roots", "Asks for the client's roots."), () => ({
    client_roots: inputRequired.listRoots(),
  })),
  asking(named("test_input_required_result_capabilities", "Asks only what the client can answer."), (call) => ({
    ...(call.capabilities.elicitation === undefined ? {} : { user_name: askName() }),
    ...(call.capabilities.sampling === undefined ? {} : { greeting: askModel("Generate a greeting") }),
  })),
];
