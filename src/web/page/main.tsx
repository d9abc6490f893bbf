/**
 * Entry point of the dashboard: renders the frame and the view of the current URL. The list (`runs/`), a run (`run/`, with
 * its `report/` and the checks of its `citations/`), the form (`start/`) and the usage view read what they show from `/api`,
 * and `live/` keeps it current. The run card of a chat (`chat/`) has an entry of its own.
 */

import { render } from "preact";
import { Frame } from "./app/frame.tsx";
import { FiguresView } from "./figures.tsx";
import { reloadWhenUserChanges } from "./app/browser-storage.ts";
import { followLinks, type Route, useRoute } from "./app/router.ts";
import { RunView } from "./run/view.tsx";
import { RunsView } from "./runs/view.tsx";
import { StartView } from "./start/view.tsx";

function Page() {
  const route = useRoute();
  return <Frame route={route}>{viewOf(route)}</Frame>;
}

function viewOf(route: Route) {
  if (route.view === "runs") return <RunsView filter={route.filter} />;
  if (route.view === "start") return <StartView />;
  if (route.view === "run") return <RunView key={route.taskId} taskId={route.taskId} />;
  if (route.view === "figures") return <FiguresView />;
  return (
    <div class="stack">
      <h1>Page not found</h1>
      <p>
        <a href="/">See all runs</a>
      </p>
    </div>
  );
}

followLinks();
reloadWhenUserChanges();
const root = document.querySelector("#page");
if (root !== null) render(<Page />, root);
