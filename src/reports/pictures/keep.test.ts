import { describe, expect, test } from "vitest";
import { chart, pngOf } from "../../../test/kit/browser/pictures.ts";
import { keepPictures, MAX_PICTURE_BYTES, MAX_PICTURES, sniffPicture } from "./keep.ts";

const received = (content: Buffer | string, mimeType = "image/png", offset = 0) => ({
  mimeType,
  data: typeof content === "string" ? content : content.toString("base64"),
  offset,
});

const jpeg = Buffer.from(
  "ffd8ffe000104a46494600010100000100010000ffc0001108012c019003011100021101031101ffda0008010100003f001234ff00ffd9",
  "hex",
);
const webp = (chunk: string, rest: string): Buffer =>
  Buffer.concat([Buffer.from(`RIFF\0\0\0\0WEBP${chunk}\0\0\0\0`, "latin1"), Buffer.from(rest.padEnd(40, "0"), "hex")]);

describe("sniffPicture", () => {
  test.each([
    ["PNG", pngOf(640, 480), { mimeType: "image/png", width: 640, height: 480 }],
    ["JPEG", jpeg, { mimeType: "image/jpeg", width: 400, height: 300 }],
    ["lossy WebP", webp("VP8 ", "3000009d012a9001b400"), { mimeType: "image/webp", width: 400, height: 180 }],
    ["lossless WebP", webp("VP8L", "2f8f012d00"), { mimeType: "image/webp", width: 400, height: 181 }],
    ["extended WebP", webp("VP8X", "000000008f0100b30000"), { mimeType: "image/webp", width: 400, height: 180 }],
  ])("reads type and dimensions of a %s (S2)", (_name, content, expected) => {
    expect(sniffPicture(content)).toEqual(expected);
  });

  test.each([
    ["SVG", Buffer.from("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>")],
    ["HTML", Buffer.from("<!doctype html><script>alert(1)</script>")],
    ["GIF", Buffer.from("GIF89a\u0001\0\u0001\0", "latin1")],
    ["no bytes", Buffer.alloc(0)],
    ["a PNG cut in its header", pngOf(1, 1).subarray(0, 20)],
    ["a PNG without width", pngOf(0, 480)],
    ["a JPEG without a frame", Buffer.from("ffd8ffe000104a46494600010100000100010000ffd9", "hex")],
    ["a JPEG with a segment of no length", Buffer.from(`ffd8ffe00000${"00".repeat(40)}`, "hex")],
    ["a WebP of an unknown kind", webp("ALPH", "00")],
  ])("rejects %s (S2)", (_name, content) => {
    expect(sniffPicture(content)).toBeUndefined();
  });

  test("reads any truncated picture without reading beyond its end (S2)", () => {
    for (const content of [pngOf(640, 480), jpeg, webp("VP8X", "00")]) {
      for (let length = 0; length <= content.length; length += 1) {
        expect(() => sniffPicture(content.subarray(0, length))).not.toThrow();
      }
    }
  });
});

describe("keepPictures", () => {
  test("keeps bytes, type, position and hash, in the order of the text (S2)", () => {
    const [second, first] = [chart(), chart()];
    const { pictures, note } = keepPictures([received(second, "image/png", 90), received(first, "", 10)]);
    expect(note).toBeUndefined();
    expect(pictures.map(({ n, offset, width, mimeType }) => [n, offset, width, mimeType])).toEqual([
      [1, 10, 320, "image/png"],
      [2, 90, 320, "image/png"],
    ]);
    expect(Buffer.from(pictures[0]?.content ?? []).toString("base64")).toBe(first);
    expect(pictures[0]?.hash).toMatch(/^[0-9a-f]{64}$/);
  });

  test("rejects a wrong type, a picture that is too large and too many bytes in total, with a note (S2)", () => {
    const { pictures, note } = keepPictures([
      received(Buffer.from("<svg onload=alert(1)>"), "image/svg+xml"),
      received(jpeg, "image/png"),
      received(pngOf(60_000, 60_000)),
      received(pngOf(20_000, 10)),
      received(pngOf(9_000, 9_000)),
      received(pngOf(10, 10, MAX_PICTURE_BYTES + 100)),
      received(pngOf(10, 10)),
    ]);
    expect(pictures.map(({ width }) => width)).toEqual([10]);
    expect(note).toBe(
      "6 pictures of this report could not be kept: 2 not of its declared type, or of a type other than PNG, JPEG, WEBP; 3 more than 40 million pixels; 1 larger than 5.5 MB.",
    );
  });

  test("keeps no picture that does not fit into one MCP message (K3)", () => {
    const { pictures } = keepPictures([received(pngOf(10, 10, MAX_PICTURE_BYTES))]);
    const blob = Buffer.from(pictures[0]?.content ?? []).toString("base64");
    expect(blob.length).toBeGreaterThan(7_000_000);
    expect(blob.length).toBeLessThan(7_900_000);
  });

  test("keeps a limited number, and a limited size in all (S2)", () => {
    const many = keepPictures(Array.from({ length: MAX_PICTURES + 3 }, () => received(pngOf(10, 10))));
    expect(many.pictures).toHaveLength(MAX_PICTURES);
    expect(many.note).toContain("3 beyond the first 20");
    const large = keepPictures(Array.from({ length: 3 }, () => received(pngOf(10, 10, 5_000_000))));
    expect(large.pictures).toHaveLength(2);
    expect(large.note).toBe("A picture of this report could not be kept: 1 beyond 12 MB in total.");
  });
});
