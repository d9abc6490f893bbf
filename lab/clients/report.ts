/** The report of the simulated agent: as long as a real one, with unique lines, so that a missing line is detected. */

const FINDINGS = 20;
/** Approximate length of a section. */
const CHARACTERS = 2_800;

const finding = (section: number, n: number): string =>
  `Finding ${section}.${n}: at −${10 + n} °C the field study of series ${section * 100 + n} measured a coefficient of performance of ${(3.6 - n * 0.07).toFixed(2)}, with “naïve” sizing ${n % 4} % below that.`;

const section = (number: number): string =>
  [`## Part ${number}`, ...Array.from({ length: FINDINGS }, (_, index) => finding(number, index + 1))].join("\n\n");

export const reportOf = (characters: number): string =>
  [
    "# Heat pumps in the cold",
    ...Array.from({ length: Math.max(1, Math.round(characters / CHARACTERS)) }, (_, index) => section(index + 1)),
    "The end of the report.",
  ].join("\n\n");
