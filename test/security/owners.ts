/** Two users with their own tokens on one server: neither can access or detect the other's runs (T14). */

import { type HttpClient, type HttpScene, openHttpScene, type RunningHttpServer } from "../kit/server/http-server.ts";
import { EXTENSION, envelope } from "../kit/server/tasks.ts";
import { openVerdict, type Stage, type Verdict } from "./trial.ts";

const UNKNOWN_ID = "00000000-0000-4000-8000-000000000000";
const SECRET = "the-secret-of-ann-7731";
const RUNS = "research://runs";
const JSON_RPC = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const QUICK = { RESEARCH_SYNC_WINDOW_MS: "0", MCP_RATE_LIMIT_PER_MINUTE: "0" };

interface Person {
  token: string;
  modern: HttpClient;
  legacy: HttpClient;
}

type Check = (what: string, holds: boolean) => void;

export async function tryOwners(stage: Stage): Promise<Verdict> {
  const verdict = openVerdict();
  const scene = await openHttpScene(stage, { name: "slow research", interactions: { speed: 1 } });
  const server = await scene.http({ env: { ...QUICK } });
  const [ann, ben] = [await enter(scene, server, "ann"), await enter(scene, server, "ben")];
  const searched = await ann.modern.call("search", { query: `A question about ${SECRET}` });
  const question = { query: `A research about ${SECRET}` };
  const started = await ann.modern.call("start_deep_research", question);
  const ids = [searched.structured["metadata"].task_id, started.structured["task_id"]].map(String);

  for (const id of ids) {
    await tryTools(ben, id, verdict.check);
    await tryResources(ben, id, verdict.check);
    await tryTasks(server, ben.token, { id, check: verdict.check });
  }
  await trySessions(server, { ann, ben }, verdict.check);
  const metrics = await server.request("/metrics", { headers: { authorization: `Bearer ${ben.token}` } });
  verdict.check("ben reads the metrics of all users", metrics.status === 403);
  verdict.check("the operator cannot read the metrics", (await server.request("/metrics")).status === 200);
  // The same question does not join the other user's run.
  const same = await ben.modern.call("start_deep_research", question);
  verdict.check("ben joins ann's run", same.structured["task_id"] !== ids[1] && same.structured["success"] === true);
  for (const id of ids) {
    const { structured } = await ann.modern.call("check_research_status", { task_id: id });
    verdict.check(
      `ann's run is ${structured["status"]}`,
      ["completed", "running_async"].includes(structured["status"]),
    );
  }
  return verdict;
}

async function enter(scene: HttpScene, server: RunningHttpServer, name: string): Promise<Person> {
  const token = (await scene.command(["token", "add", name])).stdout.trim();
  return { token, modern: await server.connect("modern", token), legacy: await server.connect("legacy", token) };
}

/** The answer about another user's run equals that about an unknown run, except for the requested id. */
async function tryTools({ modern, legacy }: Person, id: string, check: Check): Promise<void> {
  for (const name of [
    "check_research_status",
    "get_research_results",
    "cancel_research",
    "resume_research",
    "save_research_to_markdown",
  ]) {
    for (const { call } of [modern, legacy]) {
      const [other, none] = [await call(name, { task_id: id }), await call(name, { task_id: UNKNOWN_ID })];
      const alike = JSON.stringify(other).replaceAll(id, UNKNOWN_ID) === JSON.stringify(none);
      check(`${name}: ${other.text}`, other.isError && alike);
    }
  }
  const asked = await modern.call("ask_followup", { task_id: id, question: "What was found?" });
  check(`ask_followup: ${asked.text}`, asked.isError && asked.structured["error"].code === "TASK_NOT_FOUND");
  const resumed = await modern.call("resume_research", { task_id: id, accept_possible_double_charge: true });
  check(`resume: ${resumed.text}`, resumed.isError);
  for (const filter of [{}, { limit: 100 }, { status: "completed" }, { kind: "search" }]) {
    const { text } = await modern.call("list_research", filter);
    check(`list_research: ${text}`, !text.includes(id) && !text.includes(SECRET));
  }
}

async function tryResources({ modern, legacy }: Person, id: string, check: Check): Promise<void> {
  for (const { client } of [modern, legacy]) {
    const record = async (what: string, asked: Promise<unknown>): Promise<void> => {
      const answer = await asked.then(JSON.stringify, (error: Error) => error.message.replaceAll(id, ""));
      check(`${what}: ${answer}`, !answer.includes(id) && !answer.includes(SECRET));
    };
    await record("resources/list", client.listResources());
    for (const uri of [RUNS, `${RUNS}/${id}`, `${RUNS}/${id}/report.md`, `${RUNS}/../runs/${id}`, `${RUNS}//${id}`]) {
      await record(
        `resources/read ${uri}`,
        client.readResource({ uri }).then(({ contents }) => contents.map((one) => ({ ...one, uri: "" }))),
      );
    }
    const ref = { type: "ref/resource" as const, uri: `${RUNS}/{task_id}` };
    for (const value of ["", id.slice(0, 4)]) {
      await record("complete", client.complete({ ref, argument: { name: "task_id", value } }));
    }
  }
  const subscribed = await legacy.client.subscribeResource({ uri: `${RUNS}/${id}` }).then(
    () => "",
    (error: Error) => error.message,
  );
  check(`resources/subscribe: ${subscribed}`, !subscribed.includes(SECRET));
}

/** Raw requests of both protocol eras, which the clients would not send. */
async function tryTasks(
  server: RunningHttpServer,
  token: string,
  { id, check }: { id: string; check: Check },
): Promise<void> {
  const ask = async (method: string, taskId: string, modern: boolean): Promise<string> => {
    const headers = modern
      ? { "mcp-protocol-version": "2026-07-28", "mcp-method": method, "mcp-name": taskId }
      : { "mcp-protocol-version": "2025-11-25" };
    const _meta = modern ? envelope({ extensions: { [EXTENSION]: {} } }) : {};
    const params = { taskId, inputResponses: {}, _meta };
    const response = await server.request("/mcp", {
      method: "POST",
      headers: { ...JSON_RPC, ...headers, authorization: `Bearer ${token}` },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    return (await response.text()).replaceAll(taskId, "");
  };
  for (const modern of [true, false]) {
    for (const method of ["tasks/get", "tasks/result", "tasks/cancel", "tasks/update", "tasks/list"]) {
      const [other, none] = [await ask(method, id, modern), await ask(method, UNKNOWN_ID, modern)];
      check(`${method}: ${other}, not ${none}`, other === none && !other.includes(SECRET));
    }
  }
}

/** Uses a session id of another user. */
async function trySessions(
  server: RunningHttpServer,
  { ann, ben }: { ann: Person; ben: Person },
  check: Check,
): Promise<void> {
  const session = { "mcp-session-id": ann.legacy.transport.sessionId ?? "" };
  const authorization = `Bearer ${ben.token}`;
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  for (const init of [
    { method: "POST", headers: { ...JSON_RPC, ...session, authorization }, body },
    { method: "GET", headers: { accept: "text/event-stream", ...session, authorization } },
    { method: "DELETE", headers: { ...session, authorization } },
  ]) {
    const { status } = await server.request("/mcp", init);
    check(`${init.method} in ann's session: ${status}`, status === 404);
  }
  const { tools } = await ann.legacy.client.listTools();
  check("ann's session was ended", tools.length > 0);
}
