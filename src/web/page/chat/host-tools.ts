/** Calls of server tools through the chat client, and the page's own requests as such calls. */

import type { Refused } from "../../wire.ts";
import type { ReportForms, RunCardAnswer } from "../../wire-chat.ts";
import { RefusedError } from "../app/request.ts";
import type { Host } from "./host.ts";

export interface HostTools {
  viewRun: (input: object) => Promise<RunCardAnswer>;
  viewReport: <Form extends keyof ReportForms>(taskId: string, form: Form, n?: number) => Promise<ReportForms[Form]>;
  cancel: (taskId: string) => Promise<void>;
  /** For the components of the page, whose requests have paths. */
  fetchAsPage: (path: string) => Promise<Response>;
}

const UNREACHABLE: Refused = {
  success: false,
  error: {
    code: "SERVER_AWAY",
    message: "The run can't be read at the moment.",
    suggestion: "It continues; this card tries again.",
  },
};

export function createHostTools({ request }: Pick<Host, "request">): HostTools {
  const call = async <Answer>(name: string, input: object): Promise<Answer> => {
    const params = { name, arguments: input };
    const answer = await request("tools/call", params).catch(() => undefined);
    const structured = answer?.["structuredContent"];
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- wire-chat.ts is the contract of both sides
    if (answer?.["isError"] !== true && structured !== undefined) return structured as Answer;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the one error shape of the server
    throw new RefusedError((structured as Refused | undefined) ?? UNREACHABLE);
  };
  const viewReport: HostTools["viewReport"] = (taskId, form, n = 0) =>
    call("view_report", { task_id: taskId, form, n });
  return {
    viewRun: (input) => call("view_run", input),
    viewReport,
    cancel: async (taskId) => {
      await call("cancel_research", { task_id: taskId });
    },
    fetchAsPage: (path) => fetchAsPage(viewReport, path),
  };
}

const PATH = /^\/api\/runs\/([^/]+)\/(report\/parts|pictures)\/(\d+)$/;

async function fetchAsPage(viewReport: HostTools["viewReport"], path: string): Promise<Response> {
  const [, taskId, what, n] = PATH.exec(path) ?? [];
  if (taskId === undefined) return new Response(null, { status: 404 });
  if (what === "pictures") {
    const { data, mime_type: type } = await viewReport(taskId, "picture", Number(n));
    const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
    return new Response(new Blob([bytes], { type }));
  }
  return Response.json(await viewReport(taskId, "html", Number(n)));
}
