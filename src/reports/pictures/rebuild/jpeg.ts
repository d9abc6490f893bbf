/** Rebuilds a JPEG from its segments (ITU-T T.81, annex B). */

const SOI = 0xd8;
const EOI = 0xd9;
const SOS = 0xda;
const FILL = 0xff;

const DQT = 0xdb;
const DRI = 0xdd;

/** Frames and tables (0xC8 is reserved), restart intervals and scans. */
const draws = (marker: number): boolean =>
  (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc8) || [SOS, DQT, DRI].includes(marker);

/** Application segments that change how the pixels look; all others, and comments, are left out. */
const NAMED: ReadonlyMap<number, string> = new Map([
  [0xe2, "ICC_PROFILE\0"],
  [0xee, "Adobe"],
]);

export function rebuildJpeg(bytes: Buffer): Buffer | undefined {
  const kept: Buffer[] = [Buffer.from([FILL, SOI])];
  let hasPixels = false;
  for (let at = 2; at + 2 <= bytes.length;) {
    if (bytes[at] !== FILL) return undefined;
    const marker = bytes[at + 1] ?? 0;
    if (marker === FILL) {
      at += 1;
      continue;
    }
    if (marker === EOI) return hasPixels ? Buffer.concat([...kept, bytes.subarray(at, at + 2)]) : undefined;
    const segment = segmentAt(bytes, at);
    if (segment === undefined) return undefined;
    if (draws(marker) || isNamed(segment, marker)) kept.push(segment);
    at += segment.length;
    if (marker !== SOS) continue;
    hasPixels = true;
    const end = endOfScan(bytes, at);
    kept.push(bytes.subarray(at, end));
    at = end;
  }
  return undefined;
}

function segmentAt(bytes: Buffer, at: number): Buffer | undefined {
  if (at + 4 > bytes.length) return undefined;
  const length = bytes.readUInt16BE(at + 2);
  const end = at + 2 + length;
  return length < 2 || end > bytes.length ? undefined : bytes.subarray(at, end);
}

function isNamed(segment: Buffer, marker: number): boolean {
  const name = NAMED.get(marker);
  return name !== undefined && segment.toString("latin1", 4, 4 + name.length) === name;
}

/** In a scan, 0xFF is followed by 0 or is a restart marker. */
function endOfScan(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(FILL, from); at !== -1; at = bytes.indexOf(FILL, at + 1)) {
    const next = bytes[at + 1];
    const isData = next === 0 || (next !== undefined && next >= 0xd0 && next <= 0xd7);
    if (!isData) return at;
  }
  return bytes.length;
}
