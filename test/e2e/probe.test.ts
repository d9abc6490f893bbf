import { test } from "vitest";
import { openScene } from "../support/scene.ts";
test("probe", async (t) => {
  const s = await openScene(t);
  const srv = await s.server();
  for (const fault of ["http-400","http-401","http-403","http-404","http-429","http-500","reset-before","reset-mid-body","hang","html-200","malformed-json"] as const) {
    s.gemini.ledger.clear();
    s.gemini.setScenario({name:"x", tasks:{search:[{fault}]}});
    const srv = await s.server({env:{JSON_MAX_RETRIES:"1", GEMINI_SEARCH_TIMEOUT:"1000"}});
    const r = await srv.call("search", {query:"What is a heat pump?"});
    console.log(fault, s.gemini.ledger.count(), JSON.stringify(r.structured), srv.stderr());
  }
  s.gemini.setScenario("good");
  const r = await srv.call("search", {query:"What is a heat pump?"});
  console.log(JSON.stringify(r.structured,null,1)); console.log(r.text);
  const d = await srv.call("deep_search", {query:"What is a heat pump?"}, {onProgress: m=>console.log("P", m)});
  console.log(JSON.stringify(d.structured,null,1)); console.log(d.text);
  console.log(srv.stderr());
  for (const st of ["echo","refusal","truncated","empty"] as const) {
    s.gemini.ledger.clear();
    s.gemini.setScenario({name:"x", tasks:{search:[{answer:st},{}]}});
    const r = await srv.call("search", {query:"What is a heat pump?"});
    console.log(st, s.gemini.ledger.countByKind(), JSON.stringify(r.structured).slice(0,600));
  }
  console.log(JSON.stringify((await srv.call("list_research", {})).structured,null,1));
  console.log(JSON.stringify((await srv.call("get_research_results", {task_id: d.structured["metadata"].task_id})),null,1));
});
