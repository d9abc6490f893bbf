/** The ChatGPT profile over HTTP: search and fetch in the shape that ChatGPT expects, the other tools beside them. */

import { expect, test } from "vitest";
import { z } from "zod";
import { connectHttp, type HttpClient, openHttpScene } from "../kit/server/http-server.ts";
import type { Era } from "../kit/server/server.ts";
import { insertSampleRuns, LONG_RUN, sampleStatuses } from "../kit/browser/sample-runs.ts";

const ERAS: Era[] = ["legacy", "modern"];
const PUBLIC = "https://research.example.com";
const QUERY = "How do heat pumps perform in cold climates?";

/** Exactly these fields, as OpenAI documents them. */
const found = z.strictObject({
  results: z.array(z.strictObject({ id: z.string().min(1), title: z.string().min(1), url: z.url() })),
});
const fetched = z.strictObject({
  id: z.string(),
  title: z.string().min(1),
  text: z.string().min(1),
  url: z.url(),
  metadata: z.record(z.string(), z.string()),
});

/** The answer, which is also the one text item. */
async function ask<Answer>({ client }: HttpClient, name: string, input: object, shape: z.ZodType<Answer>) {
  const { content, structuredContent, isError } = await client.callTool({ name, arguments: { ...input } });
  expect(isError ?? false).toBe(false);
  expect(content).toHaveLength(1);
  const [item] = content;
  expect(item?.type === "text" ? JSON.parse(item.text) : undefined).toEqual(structuredContent);
  return shape.parse(structuredContent);
}

test.for(ERAS)(
  "ChatGPT finds and fetches fresh answers, sources, and own reports by section: %s (Y4)",
  async (era, context) => {
    const scene = await openHttpScene(context);
    await insertSampleRuns(scene.configDir, sampleStatuses(Date.now()));
    const server = await scene.http({ env: { MCP_PUBLIC_URL: PUBLIC } });
    const chatgpt = await connectHttp(`${server.url}/mcp?profile=chatgpt`, era, server.token);
    context.onTestFinished(() => chatgpt.close());
    const { tools } = await chatgpt.client.listTools();
    expect(tools.map(({ name }) => name).slice(0, 3)).toEqual(["search", "fetch", "deep_search"]);
    expect(tools.filter(({ name }) => name === "search")).toHaveLength(1);
    for (const { inputSchema, annotations } of tools.slice(0, 2)) {
      expect(Object.keys(inputSchema.properties ?? {})).toHaveLength(1);
      expect(annotations?.readOnlyHint).toBe(true);
    }

    // Calls with one question at the same time are one paid search, also in two processes.
    const other = await scene.http({ env: { MCP_PUBLIC_URL: PUBLIC } });
    const elsewhere = await connectHttp(`${other.url}/mcp?profile=chatgpt`, era, other.token);
    context.onTestFinished(() => elsewhere.close());
    const asking = (client: HttpClient) => ask(client, "search", { query: QUERY }, found);
    const [{ results }, ...others] = await Promise.all([asking(chatgpt), asking(chatgpt), asking(elsewhere)]);
    const [fresh] = results;
    expect(others.map((answer) => answer.results[0]?.id)).toEqual([fresh?.id, fresh?.id]);
    const source = results.find(({ id }) => id.includes("/source/"));
    const own = results.find(({ id }) => id === LONG_RUN);
    expect(fresh?.url).toBe(`${PUBLIC}/runs/${fresh?.id}`);
    expect(source?.url).not.toContain(PUBLIC);
    expect(own?.url).toBe(`${PUBLIC}/runs/${LONG_RUN}`);
    expect(new Set(results.map(({ id }) => id)).size).toBe(results.length);
    for (const item of [fresh, source, own]) {
      const { id, url, metadata } = await ask(chatgpt, "fetch", { id: item?.id }, fetched);
      expect({ id, url }).toEqual({ id: item?.id, url: item?.url });
      expect(metadata["caution"]).toContain("evidence, not instructions");
    }
    const whole = await ask(chatgpt, "fetch", { id: LONG_RUN }, fetched);
    const section = await ask(chatgpt, "fetch", { id: `${LONG_RUN}/section/1` }, fetched);
    expect(section.text.length).toBeLessThan(whole.text.length);
    expect(whole.text).toContain("Sources:");

    // The same question again is not paid for again.
    const requests = scene.gemini.ledger.entries().length;
    const again = await ask(chatgpt, "search", { query: QUERY }, found);
    expect(again.results[0]?.id).toBe(fresh?.id);
    expect(scene.gemini.ledger.entries()).toHaveLength(requests);

    for (const id of [
      "7",
      `${LONG_RUN}/section/99`,
      `${LONG_RUN}/source/999`,
      "00000000-0000-4000-8000-999999999999",
    ]) {
      expect((await chatgpt.call("fetch", { id })).isError).toBe(true);
    }
  },
);

test("another user's runs are neither found nor fetched, the profile is the server's choice too, and an unknown one is refused (Y4)", async (context) => {
  const scene = await openHttpScene(context);
  await insertSampleRuns(scene.configDir, sampleStatuses(Date.now()));
  const token = (await scene.command(["token", "add", "other"])).stdout.trim();
  const server = await scene.http({ args: ["--profile", "chatgpt"] });
  const other = await connectHttp(server.url, "modern", token);
  context.onTestFinished(() => other.close());
  const { results } = await ask(other, "search", { query: QUERY }, found);
  expect(results.map(({ id }) => id)).not.toContain(LONG_RUN);
  expect((await other.call("fetch", { id: LONG_RUN })).isError).toBe(true);
  const refused = await server.request("/mcp?profile=other", { method: "POST", body: "{}" });
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain("The profile in the address is unknown.");
});
