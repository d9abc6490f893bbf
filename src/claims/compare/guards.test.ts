/** Each guard of the comparison refuses a claim that all others would let pass, and not the claim beside it. */

import { expect, test } from "vitest";
import { comparePage } from "../compare-page.ts";

interface Case {
  guard: string;
  title?: string;
  page: string | string[];
  stated: string;
  refused: string;
}

const CASES: readonly Case[] = [
  {
    guard: "tense",
    page: "The mill was the largest employer in Tarn.",
    stated: "The mill was the largest employer in Tarn.",
    refused: "The mill is the largest employer in Tarn.",
  },
  {
    guard: "an approximate amount on the page",
    page: "The museum counted about 40,000 visitors in May.",
    stated: "The museum counted about 40,000 visitors in May.",
    refused: "The museum counted 40,000 visitors in May.",
  },
  {
    guard: "the size of a rounding",
    page: "The museum counted 39,700 visitors in May.",
    stated: "The museum counted about 40,000 visitors in May.",
    refused: "The museum counted about 50,000 visitors in May.",
  },
  {
    guard: "the side of a rounding",
    page: "The museum counted 40,300 visitors in May.",
    stated: "The museum counted about 40,000 visitors in May.",
    refused: "The museum counted nearly 40,000 visitors in May.",
  },
  {
    guard: "a retraction in the next sentence",
    page: "The plant emits 12 tonnes of lead. The sensor was tested. The lake holds 9 tonnes of lead. This figure was corrected.",
    stated: "The plant emits 12 tonnes of lead.",
    refused: "The lake holds 9 tonnes of Lead.",
  },
  {
    guard: "another name that a pronoun may mean",
    page: "Tarva bought ships in May. It has 300 employees.\nOrmond sued Tarva in May. It has 900 clerks.",
    stated: "Tarva has 300 employees.",
    refused: "Ormond has 900 clerks.",
  },
  {
    guard: "the number of a pronoun",
    page: "The ferry carried pilgrims. It has 20 cabins.\nThe ferry carried pilgrims. They have 20 tents.",
    stated: "The ferry has 20 cabins.",
    refused: "The ferry has 20 tents.",
  },
  {
    guard: "the last mention of a noun",
    page: "The Marzell glacier is in Tyrol. The glacier lost 9 metres.\nThe Kelner glacier is in Tyrol. The glacier lost 4 metres.",
    stated: "The Marzell glacier lost 9 metres.",
    refused: "The Marzell glacier lost 4 metres.",
  },
  {
    guard: "the topic of the page",
    title: "Tarva reports",
    page: ["Profits rose to 9 million euros.", "Ormond closed a yard. Losses rose to 7 million euros."],
    stated: "Tarva's profits rose to 9 million euros.",
    refused: "Velden's losses rose to 7 million euros.",
  },
  {
    guard: "the subject before an active verb",
    page: "Engineers replaced 30 cables in May. The council never replaced 40 lamps in May.",
    stated: "30 cables were replaced in May.",
    refused: "40 lamps were replaced in May.",
  },
  {
    guard: "the limits after the words",
    page: "The rule applies to all boats. The tax applies to ships in some ports.",
    stated: "The rule applies to all boats.",
    refused: "The tax applies to ships.",
  },
  {
    guard: "the doubt after the words",
    page: "The spring heals wounds. The spring heals burns, critics doubt.",
    stated: "The spring heals wounds.",
    refused: "The spring heals burns.",
  },
  {
    guard: "the words before a name",
    page: "The pump maker Tarva bought a yard. The yard Velden Ormond bought a mill.",
    stated: "Tarva bought a yard.",
    refused: "Ormond bought a mill.",
  },
  {
    guard: "a list of figures between commas",
    page: "The inn, open all year, has 30 beds. Rooms cost 80, 90, 100 euros.",
    stated: "The inn has 30 beds.",
    refused: "Rooms cost 80, 100 euros.",
  },
  {
    guard: "a limit within a phrase that is left out",
    page: "The train stops in Tarn on Sunday. The bus stops in only Tarn on Monday.",
    stated: "The train stops on Sunday.",
    refused: "The bus stops on Monday.",
  },
  {
    guard: "the distance of clauses",
    page: "Tarva sold the mill, and Ormond bought a yard. It rained. The sun shone. Velden built a dam.",
    stated: "Tarva sold the mill, and Ormond bought a yard.",
    refused: "Tarva sold the mill, and Velden built a dam.",
  },
  {
    guard: "a clause with a subject of its own",
    page: "Unlike Orrin, it has no moon. Tamsin is in the east, and it has no rings.",
    stated: "Tamsin is in the east.",
    refused: "Orrin has no moon.",
  },
  {
    guard: "active and passive",
    page: "The board rejected the request as too high. The request was made by the union.",
    stated: "The union made the request.",
    refused: "The board was rejected.",
  },
  {
    guard: "dollars of another country",
    page: "The loss was 12.4 million Canadian dollars.",
    stated: "The loss was C$12.4m.",
    refused: "The loss was $12.4m.",
  },
  {
    guard: "the head of a table's column",
    title: "Rainfall in millimetres",
    page: ["Norda: 2023: 410", "Velden: 2023: 520", "Velden: 2024: 530"],
    stated: "The rainfall in Norda was 410 in 2023.",
    refused: "The rainfall in Velden was 520.",
  },
  {
    guard: "a duration that is no time of day",
    page: "The probe was launched from Tarn at 04:17 UTC on 22 October 2025. Ricci won in Tarn by 2:21 on Sunday.",
    stated: "The probe was launched from Tarn on 22 October 2025.",
    refused: "Ricci won in Tarn by 2:12 on Sunday.",
  },
  {
    guard: "words that every object has as properties",
    page: ["Results: Norda: Revenue: 88", "Results: Velden: Revenue: 90"],
    stated: "Norda had revenue of 88.",
    refused: "The constructor Velden had revenue of 90.",
  },
  {
    guard: "the scale of a table",
    title: "Harvest, thousand tonnes",
    page: ["Harvest, thousand tonnes: Rape: 2025: 371", "Harvest, thousand tonnes: Wheat: 2025: 371000"],
    stated: "The rape harvest came to 371,000 tonnes in 2025.",
    refused: "The wheat harvest came to 371,000 tonnes in 2025.",
  },
  {
    guard: "the currency of a table's column",
    page: ["Results: Norda: Revenue (EUR million): 88", "Results: Velden: Revenue (USD million): 88"],
    stated: "Norda had revenue of €88m.",
    refused: "Velden had revenue of €88m.",
  },
  {
    guard: "the column that a verb or superlative names",
    page: [
      "Tests: Swift: Weight: 3 kg",
      "Tests: Swift: Price: €90",
      "Tests: Lite: Weight: 2 kg",
      "Tests: Lite: Price: €95",
    ],
    stated: "The lightest was the Lite, at 2 kg.",
    refused: "The cheapest was the Lite, at 95 euros.",
  },
  {
    guard: "the row of a second value",
    page: ["Tests: Swift: Price: €90", "Tests: Swift: Score: 71", "Tests: Lite: Price: €95", "Tests: Lite: Score: 75"],
    stated: "The Swift costs 90 euros and scored 71 points.",
    refused: "The Swift costs 90 euros and scored 75 points.",
  },
  {
    guard: "limits that a table does not have",
    title: "Rainfall in millimetres",
    page: ["Norda: 2023: 410", "Velden: 2023: 520"],
    stated: "The rainfall in Norda was 410 in 2023.",
    refused: "The rainfall in Velden was not 520 in 2023.",
  },
];

test.for(CASES.map((given) => [given.guard, given] as const))(
  "%s (W2)",
  ([, { title = "Page", page, stated, refused }]) => {
    const blocks = typeof page === "string" ? page.split("\n") : page;
    const verdictOf = (text: string): string =>
      comparePage({ text, context: [], headings: [] }, { title, blocks }).verdict;
    expect(verdictOf(stated), stated).toBe("supported");
    expect(verdictOf(refused), refused).not.toBe("supported");
  },
);
