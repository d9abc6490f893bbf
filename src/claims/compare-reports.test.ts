/** What changed between two reports that were written anew. */

import { expect, test } from "vitest";
import { compareReports, type ReportChanges } from "./compare-reports.ts";
import { splitClaims } from "./split-claims.ts";

const compare = (before: string, now: string): Promise<ReportChanges> => {
  const [older, newer] = [before, now].map((report) => splitClaims({ report, sources: [] }));
  return compareReports({ before: older ?? [], now: newer ?? [] }, new AbortController().signal);
};

const BEFORE = `# Heat pumps

Sales in Norway rose by 12 percent in 2025. The trial covered 412 homes in three countries. The quietest unit, from Daikin, runs at 38 dB. At −15 °C the efficiency of most models falls to 2.1. Bosch raised the price of its Compress 7000 to 6,200 EUR in March 2026.

- **Subsidies:** Germany pays up to 70 percent of the cost of a new heat pump.
- **Installers:** About 60,000 installers are missing in the European Union.

Old radiators often have to be replaced before the change. Noise remains the most common complaint of neighbours.
`;
const NOW = `# Heat pumps: a report

According to industry figures, sales in Norway grew by 12% in 2025. The field trial included 412 homes across three countries. Daikin makes the quietest unit, at 38 decibels. Most models' efficiency drops to 2.1 at minus 15 degrees. In March 2026 Bosch increased the Compress 7000's price to 6,200 euros.

- **Subsidies:** In Germany, up to 70% of the costs of a new heat pump are paid.
- **Installers:** The European Union lacks about 60,000 installers.

Often, old radiators must be replaced before the change. The most common complaint of neighbours is still noise.
`;

test("a report that says the same in other words has no news, in either direction (W11)", async () => {
  const nothing = { changed: [], added: [], gone: [] };
  expect(await compare(BEFORE, NOW)).toEqual(nothing);
  expect(await compare(NOW, BEFORE)).toEqual(nothing);
});

test.for<[string, string, string]>([
  ["another unit", "Sales in Norway rose by 12 percent in 2025.", "Sales in Norway grew by 12 points in 2025."],
  ["another direction", "Sales in Norway rose by 12 percent in 2025.", "In 2025 Norway's sales fell by 12%."],
  ["another name", "Norway sold 400 heat pumps in 2025.", "In 2025, Finland sold 400 heat pumps."],
  ["amounts turned", "Use batteries from 20 to 80 percent.", "Batteries: use them from 80 to 20 percent."],
  ["a negation", "The law covers 400 towns in Norway.", "In Norway, the law does not cover 400 towns."],
  ["an opposite", "Bosch sells its largest pump for 900 EUR.", "For 900 euros, Bosch sells its smallest pump."],
  ["another year", "Bosch opened 12 shops in Norway in 2024.", "In 2025 Bosch opened 12 shops in Norway."],
  ["names turned", "Norway sold 400 of its pumps to Sweden.", "Sweden sold 400 of its pumps to Norway."],
  [
    "a figure of the next sentence",
    "Norway sold 400 pumps in 2025. Sweden sold 500.",
    "Norway sold 500 pumps in 2025.",
  ],
  [
    "a name of the next sentence",
    "In May, Norway sold 400 heat pumps. In June, the buyers in Sweden waited for heat pumps.",
    "The buyers waited: Sweden sold 400 heat pumps in May.",
  ],
  [
    "another verb",
    "The EU plans to ban the sale of new combustion cars from 2035.",
    "The EU has abandoned the ban on new combustion cars from 2035.",
  ],
  ["another noun", "The drug helps 40 percent of the adults.", "The drug helps 40 percent of the children."],
  ["an end", "The court upheld the fine of 40 EUR.", "The fine of 40 euros was overturned by the court."],
  [
    "a newer census",
    "According to the 2024 census, Lund has 31,000 inhabitants.",
    "According to the 2025 census, Lund has 31,000 inhabitants.",
  ],
  ["an opposite limit", "The law covers more than 400 towns.", "The law covers fewer than 400 towns."],
  ["another statement", "Old radiators have to be replaced first.", "Old radiators have to be painted carefully."],
])("%s is news in a sentence that was written anew (W11)", async ([, before, now]) => {
  const { changed, added } = await compare(before, now);
  expect([...changed.map((change) => change.now), ...added]).toEqual([now]);
});
