/** Draws marks on a canvas, with a shape for each kind of run, because colours alone are not accessible. */

import type { PlotColours } from "./colours.ts";
import type { Kind } from "./statistics.ts";

export interface PlotMark {
  x: number;
  y: number;
  kind: Kind;
  taskId: string;
  title: string;
  /** Shown in the tooltip. */
  description: string;
  /** The expected range of y; a mark outside of it is hollow. */
  range?: { from: number; to: number };
}

const KIND_COLOURS: Record<Kind, keyof PlotColours> = {
  agent: "accent",
  deep_research: "bad",
  deep_search: "warn",
  followup: "quiet",
  search: "good",
};

type Draw = (context: CanvasRenderingContext2D, centre: { x: number; y: number }, size: number) => void;

const polygon =
  (corners: [number, number][]): Draw =>
  (context, { x, y }, size) => {
    for (const [index, [right, down]] of corners.entries()) {
      if (index === 0) context.moveTo(x + right * size, y + down * size);
      else context.lineTo(x + right * size, y + down * size);
    }
    context.closePath();
  };

const SHAPES: Record<Kind, Draw> = {
  agent: (context, { x, y }, size) => context.arc(x, y, size, 0, 2 * Math.PI),
  deep_research: polygon([
    [0, -1.3],
    [1.3, 0],
    [0, 1.3],
    [-1.3, 0],
  ]),
  deep_search: polygon([
    [-0.9, -0.9],
    [0.9, -0.9],
    [0.9, 0.9],
    [-0.9, 0.9],
  ]),
  followup: polygon([
    [0, 1.2],
    [1.2, -1],
    [-1.2, -1],
  ]),
  search: polygon([
    [0, -1.2],
    [1.2, 1],
    [-1.2, 1],
  ]),
};

/** The same shapes as characters, for text beside a plot. */
export const KIND_SIGNS: Record<Kind, string> = {
  agent: "●",
  deep_research: "◆",
  deep_search: "■",
  followup: "▼",
  search: "▲",
};

interface PositionedMark {
  mark: PlotMark;
  x: number;
  y: number;
}

/** Marks get smaller as they get denser. */
function markSize(count: number, width: number): number {
  const perPixel = count / width;
  return perPixel > 5 ? 1.5 : perPixel > 1 ? 2.5 : perPixel > 0.25 ? 3.5 : 5;
}

interface MarkStyle {
  colours: PlotColours;
  /** Width of the plot in CSS pixels. */
  width: number;
}

export function drawMarks(
  context: CanvasRenderingContext2D,
  positioned: PositionedMark[],
  { colours, width }: MarkStyle,
): void {
  const size = markSize(positioned.length, width) * devicePixelRatio;
  context.save();
  context.lineWidth = (size > 3 * devicePixelRatio ? 1.5 : 0.75) * devicePixelRatio;
  context.globalAlpha = positioned.length > 200 ? 0.7 : 1;
  for (const { mark, x, y } of positioned) {
    context.beginPath();
    SHAPES[mark.kind](context, { x, y }, size);
    const colour = colours[KIND_COLOURS[mark.kind]];
    const isOutside = mark.range !== undefined && (mark.y < mark.range.from || mark.y > mark.range.to);
    context.fillStyle = isOutside ? colours.ground : colour;
    context.strokeStyle = isOutside ? colour : colours.ground;
    context.fill();
    context.stroke();
  }
  context.restore();
}

export function drawRanges(
  context: CanvasRenderingContext2D,
  ranges: { from: number; to: number; x: number }[],
  colours: PlotColours,
): void {
  context.save();
  context.strokeStyle = colours.quiet;
  context.globalAlpha = ranges.length > 200 ? 0.12 : 0.55;
  context.lineWidth = (ranges.length > 200 ? 2 : 3) * devicePixelRatio;
  context.beginPath();
  for (const { from, to, x } of ranges) {
    context.moveTo(x, from);
    context.lineTo(x, to);
  }
  context.stroke();
  context.restore();
}
