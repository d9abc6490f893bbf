/** Pages in other encodings are decoded, whether they declare them, declare a wrong one, or none. */

import { expect, test } from "vitest";
import { decodeText } from "./charset.ts";

/** The inverse of TextDecoder for encodings of one or two bytes per character. */
function encode(text: string, label: string): Uint8Array {
  const decoder = new TextDecoder(label, { fatal: true });
  const codes = new Map<string, number[]>();
  const add = (bytes: number[]): void => {
    try {
      const character = decoder.decode(Uint8Array.from(bytes));
      if ([...character].length === 1 && !codes.has(character)) codes.set(character, bytes);
    } catch {
      // Not a character.
    }
  };
  for (let one = 0; one < 256; one += 1) add([one]);
  if (/jp|jis|gb|big5|kr/i.test(label)) {
    for (let one = 0x81; one < 0xff; one += 1) for (let two = 0x40; two < 0xff; two += 1) add([one, two]);
  }
  return Uint8Array.from([...text].flatMap((character) => codes.get(character) ?? [0x3f]));
}

const JAPANESE = "市議会は火曜日に新しい路線の建設を決めました。費用は四千万円で、二年後に開通する予定です。";
const RUSSIAN = "Совет проголосовал за строительство новой линии к порту стоимостью сорок миллионов рублей.";
const GERMAN = "Der Rat beschloss am Dienstag den Bau der neuen Straße; größere Änderungen sind nicht möglich.";
const CHINESE = "市议会星期二决定修建一条通往港口的新线路，费用为四千万元，预计两年后通车。";
const KOREAN = "시의회는 화요일에 항구로 가는 새 노선을 건설하기로 결정했다. 비용은 사천만 원이다.";

test("an encoding is taken from the header, the page, the byte order mark, or the text (W9)", () => {
  const meta = (charset: string): string => `<meta charset="${charset}">`;
  const pages: [text: string, encoding: string, contentType: string, head: string][] = [
    [GERMAN, "windows-1252", "text/html; charset=iso-8859-1", ""],
    [GERMAN, "windows-1252", "text/html", meta("windows-1252")],
    [GERMAN, "windows-1252", "text/html; charset=utf-8", ""],
    [JAPANESE, "shift_jis", "text/html", meta("Shift_JIS")],
    [JAPANESE, "shift_jis", "text/html", ""],
    [JAPANESE, "euc-jp", "text/html; charset=utf-8", ""],
    [RUSSIAN, "windows-1251", "text/html; charset=windows-1251", ""],
    [RUSSIAN, "koi8-r", "text/html", ""],
    [CHINESE, "gbk", "text/html", `<?xml version="1.0" encoding="gb2312"?>`],
    [CHINESE, "gbk", "text/html; charset=utf-8", meta("gb2312")],
    [KOREAN, "euc-kr", "text/html", meta("euc-kr")],
    [KOREAN, "euc-kr", "text/html", meta("utf-8")],
  ];
  for (const [text, encoding, contentType, head] of pages) {
    const bytes = encode(`${head}<p>${text.repeat(3)}`, encoding);
    expect(decodeText(bytes, contentType), `${encoding} as ${contentType} ${head}`).toContain(text);
  }
  const utf8 = Buffer.from(`<p>${JAPANESE}`);
  expect(decodeText(utf8, "text/html; charset=iso-8859-1")).toContain(JAPANESE);
  expect(decodeText(Buffer.from(`\uFEFF${RUSSIAN}`, "utf16le"), "text/html; charset=utf-8")).toBe(RUSSIAN);
  expect(decodeText(Buffer.from([0xff, 0x41]), "text/html; charset=no-such")).toHaveLength(2);
});
