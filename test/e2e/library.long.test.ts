/** Renaming, starring and archiving runs through the front door: the page's API, the commands, and what models see. */

import { describe, expect, test } from "vitest";
import { openPageServer, type PageServer, untilEnded } from "../kit/browser/page-api.ts";
import { openResearch, QUERY, type ResearchScene, SLOW } from "../kit/server/research.ts";

const AT_ONCE = { duration_ms: 0 };
const TITLE = "Heating our house";

async function finished(server: PageServer, query = QUERY, token?: string): Promise<string> {
  const { body } = await server.post("/api/research", { query }, token);
  if (token === undefined) await untilEnded(server, body.task_id);
  return body.task_id;
}

describe("the page's API", () => {
  test("renames, stars and archives a run, and the list, its counts and the search follow", async (context) => {
    const server = await (await openPageServer(context, AT_ONCE)).serve();
    const [one, two] = [await finished(server), await finished(server, "Who makes solid-state batteries?")];
    const organize = (id: string, marks: object) => server.post(`/api/runs/${id}/organize`, marks);
    const list = async (filter = "") => {
      const { runs, found, counts, total, starred, archived } = (await server.get(`/api/runs?${filter}`)).body;
      return { ids: runs.map((run: { task_id: string }) => run.task_id), found, counts, total, starred, archived };
    };
    expect(await organize(one, { title: `  ${TITLE}\u0007 \u200B\n` })).toMatchObject({
      status: 200,
      body: { task_id: one, query: QUERY, title: TITLE },
    });
    expect((await organize(one, { starred: true })).body).toMatchObject({ title: TITLE, starred: true });
    expect((await server.get(`/api/runs/${one}`)).body).toMatchObject({ title: TITLE, starred: true, query: QUERY });
    expect(await list()).toMatchObject({ ids: [two, one], total: 2, starred: 1, archived: 0 });
    expect(await list("starred=true")).toMatchObject({ ids: [one] });
    expect((await server.get("/api/runs?text=heating+house")).body.runs).toMatchObject([
      { task_id: one, found: [{ text: "Heating", marked: true }, {}, { text: "house", marked: true }] },
    ]);
    expect((await organize(one, { archived: true })).body).toMatchObject({ archived: true });
    expect(await list()).toMatchObject({ ids: [two], counts: { completed: 1 }, total: 1, starred: 0, archived: 1 });
    expect(await list("archived=true")).toMatchObject({ ids: [one] });
    expect(await list("text=heating")).toMatchObject({ ids: [], found: { total: 0, starred: 0, archived: 1 } });
    expect(await list("text=heating&archived=true")).toMatchObject({ ids: [one] });
    // Still opened by its address.
    expect(await server.get(`/api/runs/${one}/report`)).toMatchObject({ status: 200 });
    expect((await organize(one, { archived: false, starred: false, title: "" })).body).not.toMatchObject({
      title: expect.anything(),
    });
    expect(await list()).toMatchObject({ ids: [two, one], starred: 0, archived: 0 });
  });

  test("other open pages receive each change at once", async (context) => {
    const server = await (await openPageServer(context, AT_ONCE)).serve();
    const id = await finished(server);
    const stream = await server.live();
    await stream.until(() => stream.named("hello").length > 0);
    await server.post(`/api/runs/${id}/organize`, { title: TITLE, starred: true });
    await stream.until(() =>
      stream
        .named("runs")
        .some(
          ({ data }) => data.list_changed === true && data.runs[0].title === TITLE && data.runs[0].starred === true,
        ),
    );
    stream.cut();
  });

  test("answers as if the run of another owner did not exist, and changes nothing (T-5)", async (context) => {
    const scene = await openPageServer(context, AT_ONCE);
    const ann = await scene.tokenOf("ann");
    const server = await scene.serve();
    const id = await finished(server);
    for (const marks of [{ title: "Mine" }, { starred: true }, { archived: true }]) {
      const foreign = await server.post(`/api/runs/${id}/organize`, marks, ann);
      expect(foreign).toMatchObject({ status: 404, body: { error: { code: "TASK_NOT_FOUND" } } });
    }
    const { body } = await server.get(`/api/runs/${id}`);
    for (const mark of ["title", "starred", "archived"]) expect(body).not.toHaveProperty(mark);
  });

  test("rejects marks that are invalid, and archiving a run that has not ended (A6)", async (context) => {
    const server = await (await openPageServer(context, SLOW)).serve();
    const { body } = await server.post("/api/research", { query: QUERY });
    const path = `/api/runs/${body.task_id}/organize`;
    for (const marks of [{ title: "x".repeat(201) }, { title: 7 }, { starred: "yes" }, { owner: "ann" }, "[]"]) {
      expect(await server.post(path, marks)).toMatchObject({ status: 400, body: { error: { code: "INVALID_INPUT" } } });
    }
    expect(await server.post(path, { archived: true })).toMatchObject({
      status: 409,
      body: { error: { code: "RESEARCH_NOT_COMPLETED" }, status: "running_async" },
    });
    expect(await server.post(path, { title: "x".repeat(200), starred: true })).toMatchObject({ status: 200 });
    const plain = await server.request(path, {
      method: "POST",
      headers: { authorization: `Bearer ${server.token}`, "content-type": "text/plain" },
      body: "{}",
    });
    expect(plain.status).toBe(415);
    for (const query of ["starred=yes", "archived=1"])
      expect(await server.get(`/api/runs?${query}`), query).toMatchObject({ status: 400 });
  });
});

describe("the commands", () => {
  const start = async (scene: ResearchScene, query: string): Promise<string> =>
    JSON.parse((await scene.command(["research", query, "--wait", "--json"])).stdout).task_id;
  const runs = async (scene: ResearchScene, ...args: string[]) =>
    JSON.parse((await scene.command([...args, "--json"])).stdout).runs;

  test("rename, star and archive take the beginning of an id, and list shows what they did", async (context) => {
    const scene = await openResearch(context, AT_ONCE);
    const one = await start(scene, QUERY);
    const two = await start(scene, "Who makes solid-state batteries?");
    const renamed = await scene.command(["rename", one.slice(0, 8), "Heating", "our", "house"]);
    expect([renamed.code, renamed.stdout]).toEqual([0, `Renamed to “${TITLE}”. Run ${one}\n`]);
    const starred = await scene.command(["star", one.slice(0, 8), "--json"]);
    expect(JSON.parse(starred.stdout)).toMatchObject({ success: true, task_id: one, title: TITLE, starred: true });
    expect(await runs(scene, "list", "--starred")).toMatchObject([{ task_id: one, title: TITLE, query: QUERY }]);
    expect(await runs(scene, "list", "heating")).toMatchObject([{ task_id: one }]);
    expect((await scene.command(["archive", one.slice(0, 8)])).stdout).toBe(`Archived. Run ${one}\n`);
    expect(await runs(scene, "list")).toMatchObject([{ task_id: two }]);
    expect(await runs(scene, "list", "--archived")).toMatchObject([{ task_id: one, archived: true }]);
    // find looks everywhere.
    expect(await runs(scene, "list", "heating")).toMatchObject([{ task_id: one, archived: true }]);
    for (const undo of ["unarchive", "unstar"]) expect((await scene.command([undo, one])).code).toBe(0);
    expect((await scene.command(["rename", one, ""])).stdout).toBe(`The question is shown again. Run ${one}\n`);
    expect(await runs(scene, "list")).toHaveLength(2);
    const [, plain] = await runs(scene, "list");
    for (const mark of ["title", "starred", "archived"]) expect(plain).not.toHaveProperty(mark);
    const long = await scene.command(["rename", one, "x".repeat(201), "--json"]);
    expect([long.code, JSON.parse(long.stdout).error]).toMatchObject([2, { code: "INVALID_INPUT" }]);
  });

  test("edit tags a run with words, which list, a search and a model find (Z2)", async (context) => {
    const scene = await openResearch(context, AT_ONCE);
    const one = await start(scene, QUERY);
    await start(scene, "Who makes solid-state batteries?");
    const tagged = await scene.command(["edit", one.slice(0, 8), "--tag", "Heating", "--tag", "#oslo"]);
    expect([tagged.code, tagged.stdout]).toEqual([0, `Tags: heating, oslo. Run ${one}\n`]);
    const found = [{ task_id: one, tags: ["heating", "oslo"] }];
    expect(await runs(scene, "list", "--tag", "Oslo")).toMatchObject(found);
    expect(await runs(scene, "list", "oslo")).toMatchObject(found);
    expect(await runs(scene, "list", "--tag", "osl")).toEqual([]);
    expect((await scene.command(["list", "--tag", "heating oslo"])).code).toBe(2);
    const server = await scene.server();
    expect((await server.call("list_research", { tag: "heating" })).structured).toMatchObject({ runs: found });
    const untagged = await scene.command(["edit", one, "--untag", "oslo", "--json"]);
    expect(JSON.parse(untagged.stdout)).toMatchObject({ task_id: one, tags: ["heating"] });
    expect(await runs(scene, "list", "oslo")).toEqual([]);
    const two = await scene.command(["edit", one, "--tag", "two words", "--json"]);
    expect([two.code, JSON.parse(two.stdout).error]).toMatchObject([2, { code: "INVALID_INPUT" }]);
  });

  test("a model still finds archived runs, and gets no further tool for this", async (context) => {
    const scene = await openResearch(context, AT_ONCE);
    const one = await start(scene, QUERY);
    await scene.command(["rename", one, TITLE]);
    await scene.command(["archive", one]);
    const server = await scene.server();
    const { structured } = await server.call("list_research", { text: "heating" });
    expect(structured).toMatchObject({ runs: [{ task_id: one, query: QUERY, title: TITLE, archived: true }] });
    const { tools } = await server.client.listTools();
    const list = tools.find(({ name }) => name === "list_research");
    expect(Object.keys(list?.inputSchema.properties ?? {})).toEqual([
      "status",
      "kind",
      "text",
      "tag",
      "limit",
      "cursor",
    ]);
    expect(tools.map(({ name }) => name)).not.toContain("organize_run");
  });
});
