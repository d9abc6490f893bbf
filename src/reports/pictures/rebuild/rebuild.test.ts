import { inflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { chart, pngChunk, pngOf } from "../../../../test/kit/browser/pictures.ts";
import { sniffPicture } from "../sniff.ts";
import { rebuildPicture } from "./rebuild.ts";

const text = (content: string): Buffer => Buffer.from(content, "latin1");
const hex = (digits: string): Buffer => Buffer.from(digits, "hex");

/** Also a page, an archive and a document, for a reader that searches for their beginnings. */
const SECOND_NATURE = text("<html><script>alert(1)</script>PK\u0003\u0004 %PDF-1.7");

const PNG = Buffer.from(chart(), "base64");
const IHDR_END = 33;
const afterHeader = (...chunks: Buffer[]): Buffer =>
  Buffer.concat([PNG.subarray(0, IHDR_END), ...chunks, PNG.subarray(IHDR_END)]);

const SOI = hex("ffd8");
const JFIF = hex("ffe000104a46494600010100000100010000");
const FRAME = hex("ffc0001108012c019003011100021101031101");
/** With a stuffed 0xFF and a restart marker, neither of which ends the scan. */
const SCAN = hex("ffda0008010100003f0012ff00ffd034");
const EOI = hex("ffd9");
const jpegSegment = (marker: number, data: Buffer): Buffer => {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([head, data]);
};
const JPEG = Buffer.concat([SOI, FRAME, SCAN, EOI]);

const chunk = (type: string, data: Buffer): Buffer => {
  const head = Buffer.concat([text(type), Buffer.alloc(4)]);
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
};
const riff = (...chunks: Buffer[]): Buffer => chunk("RIFF", Buffer.concat([text("WEBP"), ...chunks]));
const VP8 = chunk("VP8 ", hex("3000009d012a9001b4000011"));
const vp8x = (flags: number): Buffer => chunk("VP8X", Buffer.from([flags, 0, 0, 0, 0x8f, 1, 0, 0xb3, 0, 0]));
const WEBP = riff(vp8x(0), VP8);

const rebuild = (content: Buffer): Buffer | undefined => {
  const sniffed = sniffPicture(content);
  return sniffed && rebuildPicture(content, sniffed.mimeType);
};

describe("rebuildPicture", () => {
  test.each([
    ["PNG", PNG],
    ["JPEG", JPEG],
    ["WebP", WEBP],
  ])("leaves a plain %s as it is (V4)", (_name, content) => {
    expect(rebuild(content)?.toString("hex")).toBe(content.toString("hex"));
  });

  test.each([
    ["a PNG with data after its end", Buffer.concat([PNG, SECOND_NATURE]), PNG],
    ["a PNG with texts", afterHeader(pngChunk("tEXt", SECOND_NATURE), pngChunk("iTXt", SECOND_NATURE)), PNG],
    ["a PNG with a private chunk", afterHeader(pngChunk("prVt", SECOND_NATURE)), PNG],
    ["an animated PNG", afterHeader(pngChunk("acTL", Buffer.alloc(8)), pngChunk("fdAT", SECOND_NATURE)), PNG],
    ["a JPEG with data after its end", Buffer.concat([JPEG, SECOND_NATURE]), JPEG],
    [
      "a JPEG with a comment, EXIF data and a JFIF header",
      Buffer.concat([SOI, JFIF, jpegSegment(0xfe, SECOND_NATURE), jpegSegment(0xe1, SECOND_NATURE), FRAME, SCAN, EOI]),
      JPEG,
    ],
    ["a WebP with data after its end", Buffer.concat([WEBP, SECOND_NATURE]), WEBP],
    [
      "a WebP with EXIF and XMP data",
      riff(vp8x(0x0c), VP8, chunk("EXIF", SECOND_NATURE), chunk("XMP ", SECOND_NATURE)),
      WEBP,
    ],
  ])("keeps of %s only what draws it (V4)", (_name, content, expected) => {
    expect(rebuild(content)?.toString("hex")).toBe(expected.toString("hex"));
  });

  test.each([
    ["a PNG cut in its pixels", PNG.subarray(0, -40)],
    ["a PNG without its end", PNG.subarray(0, -12)],
    ["a PNG without pixels", Buffer.concat([PNG.subarray(0, IHDR_END), PNG.subarray(-12)])],
    [
      "a PNG with a wrong checksum",
      Buffer.concat([PNG.subarray(0, IHDR_END + 20), hex("00"), PNG.subarray(IHDR_END + 21)]),
    ],
    ["a PNG with an unknown critical chunk", afterHeader(pngChunk("EVIL", SECOND_NATURE))],
    ["a PNG with two headers", afterHeader(PNG.subarray(8, IHDR_END))],
    ["a PNG whose chunk is longer than the file", afterHeader(hex("7fffffff74455874"))],
    ["a JPEG without pixels", Buffer.concat([SOI, FRAME, EOI])],
    ["a JPEG without its end", JPEG.subarray(0, -2)],
    ["a JPEG with bytes between its segments", Buffer.concat([SOI, FRAME, text("<!--"), SCAN, EOI])],
    ["a WebP that is shorter than it declares", WEBP.subarray(0, -2)],
    ["a WebP without a frame", riff(vp8x(0x02), chunk("ANMF", SECOND_NATURE))],
    ["a WebP with two frames", riff(vp8x(0), VP8, VP8)],
  ])("rejects %s (V4)", (_name, content) => {
    expect(rebuild(content)).toBeUndefined();
  });

  test("keeps palette, transparency and colour space, and every pixel (V4)", () => {
    const palette = [pngChunk("sRGB", hex("00")), pngChunk("PLTE", hex("ff0000")), pngChunk("tRNS", hex("80"))];
    const coloured = afterHeader(...palette);
    expect(rebuild(coloured)).toEqual(coloured);
    const pixels = rebuild(PNG)?.subarray(IHDR_END + 8, -16);
    expect(inflateSync(pixels ?? "").length).toBe((320 * 3 + 1) * 180);
  });

  test("reads any truncated picture without reading beyond its end (V4)", () => {
    for (const content of [pngOf(640, 480), JPEG, WEBP]) {
      for (let length = 0; length <= content.length; length += 1) {
        expect(() => rebuild(content.subarray(0, length))).not.toThrow();
      }
    }
  });
});
