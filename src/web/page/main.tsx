/** The page: a frame with the ways to its views, and the view of the address. */

import { render } from "preact";
import { Frame } from "./app/frame.tsx";
import { later } from "./app/later.tsx";
import { followLinks, type Place, usePlace } from "./app/router.ts";
import { RunView } from "./run/view.tsx";
import { RunsView } from "./runs/view.tsx";
import { applyTheme } from "./app/theme.tsx";

applyTheme();

const FiguresView = later(async () => (await import("./figures/view.tsx")).FiguresView);
const StartView = later(async () => (await import("./start/view.tsx")).StartView);

function Page() {
  const place = usePlace();
  return <Frame place={place}>{viewOf(place)}</Frame>;
}

function viewOf(place: Place) {
  if (place.view === "runs") return <RunsView filter={place.filter} />;
  if (place.view === "start") return <StartView />;
  if (place.view === "run") return <RunView key={place.taskId} taskId={place.taskId} />;
  if (place.view === "figures") return <FiguresView />;
  return (
    <div class="stack">
      <h1>There is nothing at this address</h1>
      <p>
        <a href="/">See all runs</a>
      </p>
    </div>
  );
}

followLinks();
const root = document.querySelector("#page");
if (root !== null) render(<Page />, root);
