/** Ten thousand concurrent runs need little memory, and no processor time without requests. */

import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, onTestFinished, test } from "vitest";
import { startSimulator } from "../server.ts";
import { KEY, START } from "../../test/kit/simulator/interactions-client.ts";

const RUNS = 10_000;
const BATCH = 200;

/** Memory of a run that was started and polled: the run, its start, its ledger entry and its traffic. */
const BYTES_PER_RUN = 2500;

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

async function settledHeap(): Promise<number> {
  await sleep(50);
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** Of an answer. */
const BEGIN = "HTTP/1.1 200 OK";

/** Pipelines requests on one connection, because an ordinary client would be too slow. */
function createPipeline(url: string): { send(requests: string[]): Promise<string>; end(): void } {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setEncoding("utf8");
  const send = (requests: string[]): Promise<string> =>
    new Promise((resolve) => {
      const chunks: string[] = [];
      let answers = 0;
      let rest = "";
      const read = (chunk: string): void => {
        chunks.push(chunk);
        // The last characters may be the beginning of the next one.
        const parts = (rest + chunk).split(BEGIN);
        answers += parts.length - 1;
        rest = (parts.at(-1) ?? "").slice(1 - BEGIN.length);
        if (answers < requests.length || !chunk.endsWith("}")) return;
        socket.off("data", read);
        resolve(chunks.join(""));
      };
      socket.on("data", read).write(requests.join(""));
    });
  return { send, end: () => socket.destroy() };
}

const HEAD = `Host: localhost\r\nx-goog-api-key: ${KEY}\r\n`;

function startRequest(index: number): string {
  const body = JSON.stringify({ ...START, input: `${START.input} ${index}` });
  return `POST /v1beta/interactions HTTP/1.1\r\n${HEAD}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

const pollRequest = (id: string): string => `GET /v1beta/interactions/${id} HTTP/1.1\r\n${HEAD}\r\n`;

test("ten thousand idle runs fit into 25 MB", async () => {
  const simulator = await startSimulator();
  onTestFinished(() => simulator.close());
  const pipeline = createPipeline(simulator.url);
  onTestFinished(pipeline.end);
  await pipeline.send([startRequest(RUNS)]);
  const before = await settledHeap();

  for (let first = 0; first < RUNS; first += BATCH) {
    const answers = await pipeline.send(Array.from({ length: BATCH }, (_, index) => startRequest(first + index)));
    const ids = [...answers.matchAll(/"id":"(v1_[\w-]+)"/g)].map(([, id = ""]) => id);
    expect(await pipeline.send(ids.map(pollRequest))).toContain('"status":"in_progress"');
  }

  expect(simulator.ledger.acceptedStarts()).toHaveLength(RUNS + 1);
  expect(simulator.ledger.interactionRequests()).toEqual({ "create accepted": RUNS + 1, "get in_progress": RUNS });
  expect(((await settledHeap()) - before) / RUNS).toBeLessThan(BYTES_PER_RUN);

  const began = process.cpuUsage();
  await sleep(500);
  const { user, system } = process.cpuUsage(began);
  expect((user + system) / 1000).toBeLessThan(100);
});
