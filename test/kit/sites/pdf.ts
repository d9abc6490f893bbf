/** Writes small PDF files: pages of text lines, or hostile contents. */

import { deflateSync } from "node:zlib";

const LINE_HEIGHT = 14;

/** Lines of each page; an empty line leaves a gap. */
export function makePdf(pages: readonly (readonly string[])[], info: Readonly<Record<string, string>> = {}): Buffer {
  return pdfOf(
    pages.map((lines) => Buffer.from(contentOf(lines))),
    info,
  );
}

/** One page whose content stream unpacks to this many bytes of harmless operators. */
export const makePdfBomb = (bytes: number): Buffer => pdfOf([Buffer.alloc(bytes, "q Q ")]);

function contentOf(lines: readonly string[]): string {
  const shown = lines.map((line) => `0 -${LINE_HEIGHT} Td (${line.replaceAll(/[\\()]/g, "\\$&")}) Tj`);
  return `BT /F1 11 Tf 72 800 Td ${shown.join("\n")} ET`;
}

function pdfOf(contents: readonly Buffer[], info: Readonly<Record<string, string>> = {}): Buffer {
  const pageIds = contents.map((_, n) => 5 + 2 * n);
  const entries = Object.entries(info).map(([key, value]) => `/${key} (${value})`);
  const objects: (string | Buffer)[] = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${pageIds.map((id) => `${id} 0 R`).join(" ")}] /Count ${pageIds.length} >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    `<< ${entries.join(" ")} >>`,
    ...contents.flatMap((content, n) => {
      const packed = deflateSync(content, { level: 9 });
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents ${6 + 2 * n} 0 R >>`,
        Buffer.concat([
          Buffer.from(`<< /Length ${packed.length} /Filter /FlateDecode >>\nstream\n`),
          packed,
          Buffer.from("\nendstream"),
        ]),
      ];
    }),
  ];
  return assemble(objects);
}

function assemble(objects: readonly (string | Buffer)[]): Buffer {
  const parts: Buffer[] = [Buffer.from("%PDF-1.7\n")];
  let length = parts[0]?.length ?? 0;
  const offsets: number[] = [];
  const add = (part: Buffer): void => {
    parts.push(part);
    length += part.length;
  };
  for (const [index, object] of objects.entries()) {
    offsets.push(length);
    add(Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), Buffer.from(object), Buffer.from("\nendobj\n")]));
  }
  const start = length;
  const rows = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  add(Buffer.from(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`));
  add(Buffer.from(`trailer\n<< /Size ${objects.length + 1} /Root 1 0 R /Info 4 0 R >>\nstartxref\n${start}\n%%EOF\n`));
  return Buffer.concat(parts);
}
