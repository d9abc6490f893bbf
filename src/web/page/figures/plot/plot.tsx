/** A plot with a tooltip for the mark under the pointer, which links to its run. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { drawPlot, type Hovered, type PlotSpec } from "./draw.ts";
import { Problem } from "../../ui/parts.tsx";
import { go, runPath } from "../../app/router.ts";

export function Plot({ spec, label }: { spec: PlotSpec; label: string }) {
  const container = useRef<HTMLDivElement>(null);
  const [hovered, setHovered] = useState<Hovered | undefined>(undefined);
  const [failure, setFailure] = useState<unknown>(undefined);
  useEffect(() => {
    const element = container.current;
    if (element === null) return undefined;
    let isUnmounted = false;
    let stop: (() => void) | undefined;
    drawPlot(element, spec, setHovered).then((drawn) => {
      if (isUnmounted) drawn();
      else stop = drawn;
    }, setFailure);
    return () => {
      isUnmounted = true;
      setHovered(undefined);
      stop?.();
    };
  }, [spec]);
  if (failure !== undefined) return <Problem error={failure} />;
  return (
    <div
      class={hovered === undefined ? "plot" : "plot is-hovered"}
      onPointerLeave={() => setHovered(undefined)}
      onClick={(event) => {
        // A touch shows the tooltip first, which has a link.
        const isMouse = event instanceof PointerEvent && event.pointerType === "mouse";
        if (hovered !== undefined && isMouse) go(runPath(hovered.mark.taskId));
      }}
    >
      <div class="plot-canvas" role="img" aria-label={label} ref={container} />
      {hovered === undefined ? null : <MarkTooltip hovered={hovered} />}
    </div>
  );
}

function MarkTooltip({ hovered: { mark, left, top } }: { hovered: Hovered }) {
  const box = useRef<HTMLDivElement>(null);
  const ring = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (ring.current !== null) ring.current.style.translate = `${left}px ${top}px`;
    const around = element?.parentElement;
    if (element === null || around === null || around === undefined) return;
    const maxLeft = around.clientWidth - element.offsetWidth;
    element.style.left = `${Math.max(0, Math.min(maxLeft, left - element.offsetWidth / 2))}px`;
    const above = top - element.offsetHeight - 12;
    element.style.top = `${above < 0 ? top + 12 : above}px`;
  }, [mark, left, top]);
  return (
    <>
      <div class="plot-ring" ref={ring} />
      <div class="plot-words small" ref={box} aria-hidden="true">
        <strong>{mark.title.length > 90 ? `${mark.title.slice(0, 90)}…` : mark.title}</strong>
        <span>{mark.description}</span>
        <a href={runPath(mark.taskId)} tabIndex={-1}>
          Open the run
        </a>
      </div>
    </>
  );
}
