/** Draws a plot on a canvas with uPlot, which is loaded on demand. */

import type uPlot from "uplot";
import { onColoursChange, type PlotColours, plotColours } from "./colours.ts";
import { drawMarks, drawRanges, type PlotMark } from "./marks.ts";
import { type LinePoint, nearestMark } from "./statistics.ts";

export interface PlotSpec {
  /** Ascending by x. */
  marks: PlotMark[];
  /** x is in seconds since 1970 instead of an amount. */
  isTime: boolean;
  yName: string;
  xName?: string;
  formatY: (value: number) => string;
  /** A step line with its own axis on the right. */
  line?: { name: string; points: LinePoint[]; format: (value: number) => string };
  /** Both axes have the same unit; the diagonal shows where they are equal. */
  hasDiagonal: boolean;
}

export interface Hovered {
  mark: PlotMark;
  left: number;
  top: number;
}

type Hover = (hovered: Hovered | undefined) => void;

const HEIGHT_PX = 300;
const SQUARE_HEIGHT_PX = 420;
const MAX_HOVER_DISTANCE_PX = 24;
const DAY_S = 86_400;

export async function drawPlot(container: HTMLElement, spec: PlotSpec, hover: Hover): Promise<() => void> {
  const { default: UPlot } = await import("uplot");
  let colours = plotColours(container);
  const height = spec.hasDiagonal ? SQUARE_HEIGHT_PX : HEIGHT_PX;
  const width = (): number => Math.max(200, container.clientWidth);
  const options = optionsFor(spec, { stepped: UPlot.paths.stepped?.({ align: 1 }), colours: () => colours });
  const plot = new UPlot({ ...options, width: width(), height }, dataOf(spec), container);
  const stopHovering = followPointer(plot, spec, hover);
  const stopColours = onColoursChange(() => {
    colours = plotColours(container);
    plot.redraw(false, true);
  });
  const sizes = new ResizeObserver(() => {
    if (plot.width !== width()) plot.setSize({ width: width(), height });
  });
  sizes.observe(container);
  return () => {
    sizes.disconnect();
    stopColours();
    stopHovering();
    plot.destroy();
  };
}

const dataOf = ({ marks, line }: PlotSpec): uPlot.AlignedData => {
  // uPlot draws the axes and the line; the marks are drawn by `drawAll`.
  if (line === undefined) return [marks.map(({ x }) => x), marks.map(({ y }) => y)];
  return [line.points.map(({ x }) => x), line.points.map(() => null), line.points.map(({ total }) => total)];
};

interface DrawOptions {
  stepped: uPlot.Series.PathBuilder | undefined;
  colours: () => PlotColours;
}

function optionsFor(spec: PlotSpec, { stepped, colours }: DrawOptions): Omit<uPlot.Options, "width" | "height"> {
  const { marks, line, isTime } = spec;
  const grid = { stroke: () => colours().line, width: 1 };
  const axis = { stroke: () => colours().quiet, grid, ticks: grid, font: "12px system-ui, sans-serif" };
  const named = { ...axis, labelFont: "12px system-ui, sans-serif", labelSize: 16 };
  const money = (format: (value: number) => string) => (_plot: uPlot, values: number[]) => values.map(format);
  return {
    legend: { show: false },
    cursor: { x: false, y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { time: isTime, range: isTime ? timeRange(marks) : [0, upperBound(marks.map(({ x }) => x))] },
      y: { range: [0, upperBound(marks.flatMap(({ y, range }) => [y, range?.to ?? y]))] },
      total: { range: (_plot, _min, max) => [0, Math.max(max, 0.01) * 1.05] },
    },
    axes: [
      isTime
        ? { ...axis, space: 64, values: timeLabels }
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

/** Days and months, or hours if the step is less than a day. */
function timeLabels(...[, seconds, , , step]: [uPlot, number[], number, number, number]): string[] {
  const form: Intl.DateTimeFormatOptions =
    step >= 28 * DAY_S
      ? { month: "short", year: "numeric" }
      : step >= DAY_S
        ? { day: "numeric", month: "short" }
        : { hour: "2-digit", minute: "2-digit" };
  return seconds.map((at) => new Date(at * 1_000).toLocaleString("en-GB", form));
}

/** A margin above the highest value, so that no mark is cut off. */
const upperBound = (values: number[]): number =>
  values.reduce((highest, value) => Math.max(highest, value), 0.01) * 1.08;

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
    const positions = marks.map(({ x, y }) => ({ x: plot.valToPos(x, "x"), y: plot.valToPos(y, "y") }));
    const index = nearestMark(positions, { x: event.clientX - left, y: event.clientY - top }, MAX_HOVER_DISTANCE_PX);
    const [mark, position] = index === undefined ? [] : [marks[index], positions[index]];
    if (mark === undefined || position === undefined) return hover(undefined);
    // In the coordinates of the element around the plotting area, which contains the tooltip.
    return hover({ mark, left: position.x + plot.over.offsetLeft, top: position.y + plot.over.offsetTop });
  };
  plot.over.addEventListener("pointermove", move);
  plot.over.addEventListener("pointerdown", move);
  return () => {
    plot.over.removeEventListener("pointermove", move);
    plot.over.removeEventListener("pointerdown", move);
  };
}
