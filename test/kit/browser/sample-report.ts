/** A long report with every element that reports contain, and its sources. */

import type { Source } from "../../../src/reports/report.ts";

const source = (n: number, domain: string, title: string): Source => ({
  n,
  title,
  domain,
  url: `https://${domain}/${n}`,
});

/** Reserved domain names: the contents are invented. */
export const SOURCES: Source[] = [
  source(1, "energy-agency.example", "Heat pumps in cold climates: field results 2019–2025"),
  source(2, "nordic-housing.example", "Seasonal performance of 1,200 retrofitted homes"),
  source(3, "grid-operator.example", "Winter peak load and electric heating"),
  source(4, "building-institute.example", "Laboratory tests down to −30 °C"),
  source(5, "consumer-council.example", "What owners report after three winters"),
  source(6, "journal-of-buildings.example", "Defrost cycles and their cost: a review"),
];

/** As reports end: it explains the numbers in the text. */
export const SOURCE_LIST = SOURCES.map(({ n, domain, url }) => `${n}. [${domain}](${url})`).join("\n");

export const LONG_REPORT = `# Heat pumps in cold climates

Air-source heat pumps keep heating at −25 °C, at about half of the efficiency they have at +7 °C [1][4]. Over a whole winter, measured homes reached a seasonal factor between **2.4 and 3.1** [2]. The figures here are invented for this picture.

## What was measured

Field studies followed 1,200 homes over three winters [2]. Laboratory tests add the temperatures that hardly ever came [4].

| Outdoor temperature | Output, % of rated | COP, median | COP, worst tenth | Homes |
| --: | --: | --: | --: | --: |
| +7 °C | 100 | 4.1 | 3.4 | 1,200 |
| −7 °C | 88 | 2.9 | 2.3 | 1,164 |
| −15 °C | 76 | 2.3 | 1.8 | 911 |
| −25 °C | 61 | 1.8 | 1.3 | 204 |

### Defrosting

Frost costs between 4 and 13 % of the energy of a winter [6]. It is worst just below freezing, when the air is still wet:

1. The outdoor coil freezes over within 40 to 90 minutes.
2. The cycle turns around for 3 to 8 minutes and takes heat from the house.
3. Good controllers wait for the pressure, poor ones for a clock [6].

## What it costs

| Kind of home | Before, per year | After, per year | Paid back after |
| --- | --: | --: | --: |
| Oil, detached | $3,900 | $1,850 | 7 years |
| Direct electric | $3,100 | $1,400 | 6 years |
| Gas, terraced | $1,500 | $1,320 | not within 20 years |

> Owners who kept their old heating for the coldest days used it for 31 hours a year on average [5].

## What the grid sees

The evening peak grows by 1.9 kW for each home on the coldest day [3]. Where a third of the homes changed over, the local transformer became the limit before the power plants did [3].

- **Storage.** A tank of 300 litres moves most of that peak by two hours.
- **Insulation first.** Homes that were insulated before needed 40 % less [2].
- **Tariffs.** Prices by the hour moved a quarter of the load [3].

## Disputed points

Whether hybrid systems are worth their second machine is open: one study says yes below −18 °C [4], another finds no difference in cost [5]. Who pays for stronger transformers where many homes change over at once?

## Outlook

Machines with propane keep their output down to −20 °C in the laboratory [4]. Field results are expected within two winters.
`;
