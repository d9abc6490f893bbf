/** ZIP archives: written as a stream, and read by name into memory, within bounds; nothing is extracted to a path. */

import { promisify } from "node:util";
import { crc32, deflateRaw, inflateRaw } from "node:zlib";
import { type AppError, invalidInput } from "../../errors.ts";

const deflate = promisify(deflateRaw);
const inflate = promisify<Uint8Array, { maxOutputLength: number }, Buffer>(inflateRaw);

export interface ZipEntry {
  /** With `/` between folders. */
  name: string;
  content: Uint8Array;
  at: number;
}

const LOCAL = 0x04_03_4b_50;
const CENTRAL = 0x02_01_4b_50;
const END = 0x06_05_4b_50;
const LOCAL_BYTES = 30;
const CENTRAL_BYTES = 46;
const END_BYTES = 22;
const MAX_COMMENT_BYTES = 0xff_ff;
const DEFLATED = 8;
/** Names are UTF-8. */
const UTF8 = 0x08_00;
const VERSION = 20;
/** What the format holds without its 64-bit extension, which some programs cannot read. */
const MAX_ENTRIES = 0xff_ff;
const MAX_BYTES = 0xff_ff_ff_ff;
const MAX_DIRECTORY_BYTES = 50_000_000;

/** One entry is in memory at a time. */
export async function* zipOf(entries: AsyncIterable<ZipEntry>): AsyncGenerator<Buffer> {
  const central: Buffer[] = [];
  let offset = 0;
  for await (const { name, content, at } of entries) {
    const packed = await deflate(content);
    const encoded = Buffer.from(name);
    // The same in both headers: version, flags, method, time, sizes, length of the name and of further fields.
    const shared = Buffer.alloc(LOCAL_BYTES - 4);
    for (const [index, value] of [VERSION, UTF8, DEFLATED, ...dosTime(at)].entries())
      shared.writeUInt16LE(value, index * 2);
    for (const [index, value] of [crc32(content), packed.length, content.length].entries())
      shared.writeUInt32LE(value, 10 + index * 4);
    shared.writeUInt16LE(encoded.length, 22);
    const end = Buffer.alloc(CENTRAL_BYTES - 6 - shared.length);
    end.writeUInt32LE(offset, end.length - 4);
    central.push(Buffer.concat([uint32(CENTRAL), uint16(VERSION), shared, end, encoded]));
    const written = Buffer.concat([uint32(LOCAL), shared, encoded, packed]);
    offset += written.length;
    if (offset > MAX_BYTES || central.length > MAX_ENTRIES) throw tooLarge();
    yield written;
  }
  const directory = Buffer.concat(central);
  const last = Buffer.alloc(END_BYTES);
  last.writeUInt32LE(END, 0);
  last.writeUInt16LE(central.length, 8);
  last.writeUInt16LE(central.length, 10);
  last.writeUInt32LE(directory.length, 12);
  last.writeUInt32LE(offset, 16);
  yield Buffer.concat([directory, last]);
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** The format counts years from 1980 and every second second. */
function dosTime(at: number): [time: number, date: number] {
  const on = new Date(at);
  const year = Math.min(127, Math.max(0, on.getUTCFullYear() - 1980));
  return [
    (on.getUTCHours() << 11) | (on.getUTCMinutes() << 5) | (on.getUTCSeconds() >> 1),
    (year << 9) | ((on.getUTCMonth() + 1) << 5) | on.getUTCDate(),
  ];
}

const tooLarge = (): AppError =>
  invalidInput("That is more than one archive can hold (65,535 files, 4 GB).", {
    suggestion: "Export it in parts, such as one tag, kind or status at a time.",
  });

/** Where an archive is: a file, or bytes in memory. */
export interface ZipSource {
  bytes: number;
  read(from: number, length: number): Promise<Buffer>;
}

export interface ZipArchive {
  names: readonly string[];
  /** Undefined if there is none with this name. Throws if it is damaged, or longer than it may be. */
  read(name: string, maxBytes: number): Promise<Buffer | undefined>;
}

export const isZip = (beginning: Buffer): boolean => beginning.length >= 4 && beginning.readUInt32LE(0) === LOCAL;

interface Located {
  method: number;
  crc: number;
  packed: number;
  offset: number;
}

/** `maxBytes`: of everything that is read from it, which a small archive could otherwise inflate to petabytes. */
export async function openZip(source: ZipSource, maxBytes: number): Promise<ZipArchive> {
  const entries = await readDirectory(source).catch((error: unknown) => {
    throw error instanceof RangeError ? damaged() : error;
  });
  let bytesLeft = maxBytes;
  return {
    names: [...entries.keys()],
    async read(name, limit) {
      const entry = entries.get(name);
      if (entry === undefined) return undefined;
      const allowed = Math.min(limit, bytesLeft);
      if (allowed === 0) throw tooLong();
      // What cannot be read has cost as much as it might: otherwise each of many damaged entries would be inflated.
      bytesLeft -= allowed;
      const content = await readEntry(source, entry, allowed);
      bytesLeft += allowed - content.length;
      return content;
    },
  };
}

async function readDirectory(source: ZipSource): Promise<Map<string, Located>> {
  const tailFrom = Math.max(0, source.bytes - END_BYTES - MAX_COMMENT_BYTES);
  const tail = await source.read(tailFrom, source.bytes - tailFrom);
  const at = tail.lastIndexOf(uint32(END));
  if (at < 0) throw damaged();
  const [length, from] = [tail.readUInt32LE(at + 12), tail.readUInt32LE(at + 16)];
  if (from + length > tailFrom + at || length > MAX_DIRECTORY_BYTES) throw damaged();
  const directory = await source.read(from, length);
  const entries = new Map<string, Located>();
  for (let next = 0; next < directory.length;) {
    if (directory.readUInt32LE(next) !== CENTRAL) throw damaged();
    const nameLength = directory.readUInt16LE(next + 28);
    const nameFrom = next + CENTRAL_BYTES;
    entries.set(directory.toString("utf8", nameFrom, nameFrom + nameLength), {
      method: directory.readUInt16LE(next + 10),
      crc: directory.readUInt32LE(next + 16),
      packed: directory.readUInt32LE(next + 20),
      offset: directory.readUInt32LE(next + 42),
    });
    if (entries.size > MAX_ENTRIES) throw tooLong();
    next = nameFrom + nameLength + directory.readUInt16LE(next + 30) + directory.readUInt16LE(next + 32);
  }
  return entries;
}

async function readEntry(source: ZipSource, entry: Located, maxBytes: number): Promise<Buffer> {
  const header = await source.read(entry.offset, LOCAL_BYTES);
  if (header.length < LOCAL_BYTES || !isZip(header)) throw damaged();
  const from = entry.offset + LOCAL_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
  if (from + entry.packed > source.bytes || (entry.method !== 0 && entry.method !== DEFLATED)) throw damaged();
  // Before reading it.
  if (entry.packed > maxBytes + (entry.method === 0 ? 0 : SMALL_BYTES)) throw tooLong();
  const packed = await source.read(from, entry.packed);
  const content = entry.method === 0 ? packed : await inflated(packed, maxBytes);
  if (crc32(content) !== entry.crc) throw damaged();
  return content;
}

/** Deflate adds a few bytes to what it cannot compress. */
const SMALL_BYTES = 65_536;

async function inflated(packed: Buffer, maxBytes: number): Promise<Buffer> {
  try {
    return await inflate(packed, { maxOutputLength: maxBytes });
  } catch (error) {
    throw error instanceof RangeError ? tooLong() : damaged();
  }
}

const damaged = (): AppError =>
  invalidInput("This is not a whole ZIP archive.", { suggestion: "Copy or download it again.", field: "files" });

const tooLong = (): AppError =>
  invalidInput("The archive unpacks to more than an export contains.", { field: "files" });
