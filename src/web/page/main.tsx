/**
 * Entry point of the page: renders the frame and the view of the current URL. Home (the form of `start/` and the list
 * of `runs/`), a run (`run/`, with its `report/` and the checks of its `citations/`) and the costs read what they show from
 * `/api`, and `live/` keeps it current. The run card of a chat (`chat/`) has an entry of its own.
 */

import { render } from "preact";
import { Frame } from "./app/frame.tsx";
import { reloadWhenUserChanges } from "./app/browser-storage.ts";
import { followLinks, type Route, useRoute, viewKey } from "./app/router.ts";
import { LazyView, preload } from "./app/lazy-view.tsx";
import { HomeView } from "./home.tsx";

function Page() {
  const route = useRoute();
  return <Frame route={route}>{viewOf(route)}</Frame>;
}

const run = async () => (await import("./run/view.tsx")).RunView;
const costs = async () => (await import("./costs.tsx")).CostsView;
const schedules = async () => (await import("./schedules.tsx")).SchedulesView;
const notifications = async () => (await import("./notifications.tsx")).NotificationsView;
const changes = async () => (await import("./changes.tsx")).ChangesView;

function viewOf(route: Route) {
  if (route.view === "home") return <HomeView filter={route.filter} />;
  if (route.view === "run") return <LazyView key={viewKey(route)} load={run} {...route} />;
  if (route.view === "costs") return <LazyView key="costs" load={costs} filter={route.filter} />;
  if (route.view === "schedules") return <LazyView key="schedules" load={schedules} filter={route.filter} />;
  if (route.view === "notifications") return <LazyView key="notifications" load={notifications} />;
  if (route.view === "changes") return <LazyView key={route.taskId} load={changes} taskId={route.taskId} />;
  return (
    <div class="stack">
      <h1>Page not found</h1>
      <p>
        <a href="/">Ask a question or open an earlier one</a>
      </p>
    </div>
  );
}

followLinks();
reloadWhenUserChanges();
const root = document.querySelector("#page");
if (root !== null) render(<Page />, root);
// Most visits open a run, also while the server is away: its view is there by then, and home does not wait for it.
addEventListener("load", () => preload(run));
