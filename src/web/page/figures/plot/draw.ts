/** A plot on a canvas by uPlot, which is loaded only when there is something to plot. */

import type uPlot from "uplot";
import { onColoursChange, type PlotColours, plotColours } from "./colours.ts";
import { drawMarks, drawRanges, type PlotMark } from "./marks.ts";
import { type LinePoint, nearestMark } from "./statistics.ts";

export interface PlotSpec {
  /** By x, smallest first. */
  marks: PlotMark[];
  /** x is seconds since 1970 instead of an amount. */
  isTime: boolean;
  yName: string;
  xName?: string;
  formatY: (value: number) => string;
  /** Steps with their own axis on the right. */
  line?: { name: string; points: LinePoint[]; format: (value: number) => string };
  /** Both axes are the same amount: where they are equal. */
  hasDiagonal: boolean;
}

export interface Hovered {
  mark: PlotMark;
  left: number;
  top: number;
}

type Hover = (hovered: Hovered | undefined) => void;

const HEIGHT = 300;
const SQUARE_HEIGHT = 420;
const REACH = 24;
const DAY_S = 86_400;

export async function drawPlot(place: HTMLElement, spec: PlotSpec, hover: Hover): Promise<() => void> {
  const { default: UPlot } = await import("uplot");
  let colours = plotColours(place);
  const height = spec.hasDiagonal ? SQUARE_HEIGHT : HEIGHT;
  const width = (): number => Math.max(200, place.clientWidth);
  const options = optionsFor(spec, { stepped: UPlot.paths.stepped?.({ align: 1 }), colours: () => colours });
  const plot = new UPlot({ ...options, width: width(), height }, dataOf(spec), place);
  const stopHovering = followPointer(plot, spec, hover);
  const stopColours = onColoursChange(() => {
    colours = plotColours(place);
    plot.redraw(false, true);
  });
  const sizes = new ResizeObserver(() => {
    if (plot.width !== width()) plot.setSize({ width: width(), height });
  });
  sizes.observe(place);
  return () => {
    sizes.disconnect();
    stopColours();
    stopHovering();
    plot.destroy();
  };
}

const dataOf = ({ marks, line }: PlotSpec): uPlot.AlignedData => {
  // The marks are drawn by us: uPlot keeps the axes and the line.
  if (line === undefined) return [marks.map(({ x }) => x), marks.map(({ y }) => y)];
  return [line.points.map(({ x }) => x), line.points.map(() => null), line.points.map(({ total }) => total)];
};

interface Drawing {
  stepped: uPlot.Series.PathBuilder | undefined;
  colours: () => PlotColours;
}

function optionsFor(spec: PlotSpec, { stepped, colours }: Drawing): Omit<uPlot.Options, "width" | "height"> {
  const { marks, line, isTime } = spec;
  const grid = { stroke: () => colours().line, width: 1 };
  const axis = { stroke: () => colours().quiet, grid, ticks: grid, font: "12px system-ui, sans-serif" };
  const named = { ...axis, labelFont: "12px system-ui, sans-serif", labelSize: 16 };
  const money = (format: (value: number) => string) => (_plot: uPlot, values: number[]) => values.map(format);
  return {
    legend: { show: false },
    cursor: { x: false, y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { time: isTime, range: isTime ? timeRange(marks) : [0, above(marks.map(({ x }) => x))] },
      y: { range: [0, above(marks.flatMap(({ y, range }) => [y, range?.to ?? y]))] },
      total: { range: (_plot, _min, max) => [0, Math.max(max, 0.01) * 1.05] },
    },
    axes: [
      isTime
        ? { ...axis, space: 64, values: timeNames }
        : { ...named, label: spec.xName ?? "", values: money(spec.formatY), space: 48 },
      { ...named, label: spec.yName, values: money(spec.formatY), size: 56 },
      ...(line === undefined
        ? []
        : [
            {
              ...named,
              label: line.name,
              scale: "total",
              side: 1 as const,
              values: money(line.format),
              size: 56,
              grid: { show: false },
            },
          ]),
    ],
    series: [
      {},
      { paths: () => null, points: { show: false } },
      ...(line === undefined
        ? []
        : [
            {
              scale: "total",
              stroke: () => colours().quiet,
              width: 1.5,
              points: { show: false },
              ...(stepped !== undefined && { paths: stepped }),
            },
          ]),
    ],
    hooks: { draw: [(plot) => drawAll(plot, spec, colours())] },
  };
}

/** Days and months as everywhere on the page, hours where all happened on one day. */
function timeNames(_plot: uPlot, seconds: number[], _axis: number, _space: number, step: number): string[] {
  const form: Intl.DateTimeFormatOptions =
    step >= 28 * DAY_S
      ? { month: "short", year: "numeric" }
      : step >= DAY_S
        ? { day: "numeric", month: "short" }
        : { hour: "2-digit", minute: "2-digit" };
  return seconds.map((at) => new Date(at * 1_000).toLocaleString("en-GB", form));
}

/** A little above the highest, so that no mark is cut. */
const above = (values: number[]): number => values.reduce((highest, value) => Math.max(highest, value), 0.01) * 1.08;

function timeRange(marks: PlotMark[]): [number, number] {
  const first = marks[0]?.x ?? 0;
  const last = marks.at(-1)?.x ?? first;
  const margin = Math.max((last - first) * 0.03, (DAY_S - (last - first)) / 2, 60);
  return [first - margin, last + margin];
}

function drawAll(plot: uPlot, { marks, hasDiagonal }: PlotSpec, colours: PlotColours): void {
  const { ctx: context, bbox } = plot;
  const x = (value: number): number => plot.valToPos(value, "x", true);
  const y = (value: number): number => plot.valToPos(value, "y", true);
  context.save();
  context.beginPath();
  context.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  context.clip();
  if (hasDiagonal) {
    const end = Math.min(plot.scales["x"]?.max ?? 0, plot.scales["y"]?.max ?? 0);
    context.beginPath();
    context.strokeStyle = colours.text;
    context.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
    context.moveTo(x(0), y(0));
    context.lineTo(x(end), y(end));
    context.stroke();
    context.setLineDash([]);
  }
  const ranges = marks.flatMap(({ x: value, range }) =>
    range === undefined ? [] : [{ from: y(range.from), to: y(range.to), x: x(value) }],
  );
  drawRanges(context, ranges, colours);
  drawMarks(
    context,
    marks.map((mark) => ({ mark, x: x(mark.x), y: y(mark.y) })),
    { colours, width: bbox.width / devicePixelRatio },
  );
  context.restore();
}

function followPointer(plot: uPlot, { marks }: PlotSpec, hover: Hover): () => void {
  const move = (event: PointerEvent): void => {
    const { left, top } = plot.over.getBoundingClientRect();
    const places = marks.map(({ x, y }) => ({ x: plot.valToPos(x, "x"), y: plot.valToPos(y, "y") }));
    const index = nearestMark(places, { x: event.clientX - left, y: event.clientY - top }, REACH);
    const [mark, place] = index === undefined ? [] : [marks[index], places[index]];
    if (mark === undefined || place === undefined) return hover(undefined);
    // In the coordinates of what stands around the plotting area, where the words are shown.
    return hover({ mark, left: place.x + plot.over.offsetLeft, top: place.y + plot.over.offsetTop });
  };
  plot.over.addEventListener("pointermove", move);
  plot.over.addEventListener("pointerdown", move);
  return () => {
    plot.over.removeEventListener("pointermove", move);
    plot.over.removeEventListener("pointerdown", move);
  };
}
