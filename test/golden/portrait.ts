/** One run as every front door shows it. Reading only, so that it can be repeated in any state of the run. */

import type { World } from "./world.ts";

/** The status of a run, for those scenes whose other answers are those of a similar one. */
export async function glance(world: World, task_id: string): Promise<void> {
  await world.callBoth("check_research_status", { task_id });
  await world.terminal("check-research-status", task_id);
  await world.get(`/api/runs/${task_id}`);
}

export async function portrait(world: World, task_id: string): Promise<void> {
  await world.callBoth("check_research_status", { task_id });
  await world.callBoth("get_research_results", { task_id });
  await world.callBoth("list_research");
  await world.raw("2025", "tasks/get", { taskId: task_id });
  await world.raw("2026", "tasks/get", { taskId: task_id });
  await world.raw("2025", "resources/list");
  await world.raw("2025", "resources/read", { uri: `research://runs/${task_id}` });
  await world.raw("2026", "resources/read", { uri: `research://runs/${task_id}/report.md` });
  await world.call("view_run", { task_id });
  for (const form of ["html", "summary"]) await world.call("view_report", { task_id, form });
  await world.command("check-research-status", task_id);
  await world.terminal("check-research-status", task_id);
  await world.command("show", task_id);
  await world.command("show", task_id, "--json");
  await world.terminal("show", task_id);
  await world.terminal("list");
  await world.get("/api/runs");
  await world.get(`/api/runs/${task_id}`);
  for (const part of ["timeline", "report", "report.md", "plan", "conversation", "citations"]) {
    await world.get(`/api/runs/${task_id}/${part}`);
  }
}

/** Every form in which a report is saved; the files are recorded at the end of the scene. */
export async function savedFiles(world: World, task_id: string): Promise<void> {
  await world.call("save_research_to_markdown", { task_id });
  await world.call(
    "save_research_to_markdown",
    { task_id, filename_prefix: "bare", include_metadata: false, include_sources: false },
    "2026",
  );
  for (const format of ["bibtex", "ris", "csl", "csv"])
    await world.call("save_research_to_markdown", { task_id, format });
  await world.command("save", task_id);
  await world.terminal("save", task_id, "--format", "bibtex");
  for (const file of ["report.html", "sources.bib", "sources.ris", "sources.json", "table.csv"]) {
    await world.get(`/api/runs/${task_id}/${file}`);
  }
}
