/** Reads a ZIP archive, such as a Word document, independently of what wrote it. */

import { crc32, inflateRawSync } from "node:zlib";

const DIRECTORY_ENTRY = 0x02_01_4b_50;
const END = Buffer.from([0x50, 0x4b, 0x05, 0x06]);

/** The files of the archive by their names; throws where one is damaged. */
export function unzip(archive: Buffer): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  let at = archive.readUInt32LE(archive.lastIndexOf(END) + 16);
  while (archive.readUInt32LE(at) === DIRECTORY_ENTRY) {
    const [sum, size] = [archive.readUInt32LE(at + 16), archive.readUInt32LE(at + 20)];
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) => archive.readUInt16LE(at + offset));
    const name = archive.toString("utf8", at + 46, at + 46 + (nameLength ?? 0));
    const local = archive.readUInt32LE(at + 42);
    const from = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
    const stored = archive.subarray(from, from + size);
    const content = archive.readUInt16LE(at + 10) === 8 ? inflateRawSync(stored) : stored;
    if (crc32(content) !== sum) throw new Error(`${name} is damaged.`);
    files.set(name, content);
    at += 46 + (nameLength ?? 0) + (extraLength ?? 0) + (commentLength ?? 0);
  }
  return files;
}
