/** Fuzz target: a received picture is kept as it is, as an image of a known type and bounded size, or rejected (V4). */

import { chartPng } from "../../simulator/interactions/chart.ts";
import { keepPictures } from "../../src/reports/pictures/keep.ts";
import { type FuzzTarget, must } from "./target.ts";

const latin1 = (base64: string): string => Buffer.from(base64, "base64").toString("latin1");
const hex = (digits: string): string => Buffer.from(digits, "hex").toString("latin1");

const JPEG = "ffd8ffc0001108012c019003011100021101031101ffda0008010100003f0012ff00ffd034ffd9";
const WEBP = "524946461800000057454250565038200c0000003000009d012a9001b4000011";

export const pictures: FuzzTarget = {
  name: "pictures",
  seeds: [latin1(chartPng((below) => below - 1)), hex(JPEG), hex(WEBP)],
  words: ["IHDR", "IDAT", "IEND", "tEXt", "VP8X", "VP8L", "EXIF", "RIFF", "\u00FF\u00DA", "\u00FF\u00D9", "\0\0\0\0"],
  open: () => ({
    check: (input) => {
      const [first] = keep(Buffer.from(input, "latin1"));
      if (first === undefined) return "rejected";
      const { content, mimeType, width, height } = first;
      must(width * height <= 40_000_000, "V4: no picture declares more than 40 million pixels.");
      must(["image/png", "image/jpeg", "image/webp"].includes(mimeType), "V4: a picture is a PNG, a JPEG or a WebP.");
      must(Buffer.from(content).equals(Buffer.from(input, "latin1")), "V4: a picture is kept as received.");
      return mimeType;
    },
  }),
};

const keep = (content: Buffer) =>
  keepPictures([{ mimeType: "", data: content.toString("base64"), offset: 0 }]).pictures;
