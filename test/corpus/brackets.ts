/** Answers with missing or additional braces and brackets. */

import { FENCE, type CorpusCase } from "./corpus-case.ts";

export const BRACKETS: readonly CorpusCase[] = [
  {
    id: "closers-one-missing-fence-closed",
    family: "missing-closers",
    schema: "search",
    output: String.raw`${FENCE}json
{
  "success": true,
  "report": "Cape Town receives most of its rain between May and August.",
  "metadata": {
    "sources_visited": ["https://www.weathersa.co.za"],
    "search_queries_used": ["Cape Town rainy season"]
  }
${FENCE}`,
    expected: {
      success: true,
      report: "Cape Town receives most of its rain between May and August.",
      sources_visited: ["https://www.weathersa.co.za"],
      search_queries_used: ["Cape Town rainy season"],
    },
  },
  {
    id: "closers-all-missing-fence-closed",
    family: "missing-closers",
    schema: "deep_search",
    output: String.raw`${FENCE}json
{"success": true, "verified": false, "report": "Der Anteil erneuerbarer Energien am Bruttostromverbrauch lag 2024 bei 54,4 %.", "metadata": {"sources_visited": ["https://www.umweltbundesamt.de"], "search_queries_used": ["Anteil Erneuerbare 2024 UBA"
${FENCE}`,
    expected: {
      success: true,
      verified: false,
      report: "Der Anteil erneuerbarer Energien am Bruttostromverbrauch lag 2024 bei 54,4 %.",
      sources_visited: ["https://www.umweltbundesamt.de"],
      search_queries_used: ["Anteil Erneuerbare 2024 UBA"],
    },
  },
  {
    id: "closers-missing-after-report-fence-closed",
    family: "missing-closers",
    schema: "search",
    output: String.raw`${FENCE}json
{
  "success": true,
  "report": "There are 193 member states of the United Nations."
${FENCE}`,
    expected: {
      success: true,
      report: "There are 193 member states of the United Nations.",
      sources_visited: [],
      search_queries_used: [],
    },
  },
  {
    id: "closers-missing-and-prose-after-fence",
    family: "missing-closers",
    schema: "search",
    output: String.raw`${FENCE}json
{"success": true, "report": "Rust 1.85 stabilised the 2024 edition in February 2025.", "metadata": {"sources_visited": ["https://blog.rust-lang.org/2025/02/20/Rust-1.85.0/"], "search_queries_used": ["rust 2024 edition stable"]}
${FENCE}
I hope this helps! Let me know if you need more.`,
    expected: {
      success: true,
      report: "Rust 1.85 stabilised the 2024 edition in February 2025.",
      sources_visited: ["https://blog.rust-lang.org/2025/02/20/Rust-1.85.0/"],
      search_queries_used: ["rust 2024 edition stable"],
    },
  },
  {
    id: "closers-missing-raw-and-prose-after",
    family: "missing-closers",
    schema: "search",
    output: String.raw`{"success": true, "report": "The Danube is 2,850 km long and touches ten countries.", "metadata": {"sources_visited": ["https://www.icpdr.org/danube-basin"], "search_queries_used": ["Danube length countries"]}

I hope this answers your question.`,
    expected: {
      success: true,
      report: "The Danube is 2,850 km long and touches ten countries.",
      sources_visited: ["https://www.icpdr.org/danube-basin"],
      search_queries_used: ["Danube length countries"],
    },
  },
  {
    id: "closers-array-bracket-missing",
    family: "missing-closers",
    schema: "search",
    output: String.raw`{"success": true, "report": "Ötzi died around 3230 BC.", "metadata": {"sources_visited": ["https://www.iceman.it/en/", "https://www.nature.com/articles/s41598-023"], "search_queries_used": ["Ötzi age of death", "Ötzi radiocarbon"}}`,
    expected: {
      success: true,
      report: "Ötzi died around 3230 BC.",
      sources_visited: ["https://www.iceman.it/en/", "https://www.nature.com/articles/s41598-023"],
      search_queries_used: ["Ötzi age of death", "Ötzi radiocarbon"],
    },
  },
  {
    id: "closers-first-array-left-open",
    family: "missing-closers",
    schema: "search",
    output: String.raw`${FENCE}json
{
  "success": true,
  "report": "The Svalbard seed vault holds more than 1.3 million samples.",
  "metadata": {
    "sources_visited": ["https://www.croptrust.org/work/svalbard-global-seed-vault/", "https://www.seedvault.no",
    "search_queries_used": ["Svalbard seed vault number of samples"]
  }
}
${FENCE}`,
    expected: {
      success: true,
      report: "The Svalbard seed vault holds more than 1.3 million samples.",
      sources_visited: [
        "https://www.croptrust.org/work/svalbard-global-seed-vault/",
        "https://www.seedvault.no",
      ],
      search_queries_used: ["Svalbard seed vault number of samples"],
    },
    why: "A string followed by a colon cannot be an element of the list before it.",
  },
  {
    id: "closers-too-many",
    family: "extra-closers",
    schema: "search",
    output: String.raw`${FENCE}json
{"success": true, "report": "Caffeine has a half-life of about five hours in adults.", "metadata": {"sources_visited": ["https://www.ncbi.nlm.nih.gov/books/NBK223808/"], "search_queries_used": ["caffeine half-life"]}}}
${FENCE}`,
    expected: {
      success: true,
      report: "Caffeine has a half-life of about five hours in adults.",
      sources_visited: ["https://www.ncbi.nlm.nih.gov/books/NBK223808/"],
      search_queries_used: ["caffeine half-life"],
    },
  },
  {
    id: "closers-too-many-brackets",
    family: "extra-closers",
    schema: "search",
    output: String.raw`{"success": true, "report": "L'aéroport de Nice a accueilli 14,8 millions de passagers en 2024.", "metadata": {"sources_visited": ["https://www.nice.aeroport.fr"]], "search_queries_used": ["trafic aéroport Nice 2024"]}}`,
    expected: {
      success: true,
      report: "L'aéroport de Nice a accueilli 14,8 millions de passagers en 2024.",
      sources_visited: ["https://www.nice.aeroport.fr"],
      search_queries_used: ["trafic aéroport Nice 2024"],
    },
  },
  {
    id: "opening-brace-missing",
    family: "missing-opener",
    schema: "search",
    output: String.raw`"success": true,
"report": "The Suez Canal is 193.3 km long since the 2015 extension.",
"metadata": {
  "sources_visited": ["https://www.suezcanal.gov.eg"],
  "search_queries_used": ["Suez canal length"]
}
}`,
    expected: {
      success: true,
      report: "The Suez Canal is 193.3 km long since the 2015 extension.",
      sources_visited: ["https://www.suezcanal.gov.eg"],
      search_queries_used: ["Suez canal length"],
    },
  },
  {
    id: "opening-brace-missing-fenced",
    family: "missing-opener",
    schema: "deep_search",
    output: String.raw`${FENCE}json
  "success": true,
  "verified": true,
  "report": "木星には確認された衛星が97個あります。",
  "metadata": { "sources_visited": ["https://minorplanetcenter.net"], "search_queries_used": ["木星 衛星 数"] }
}
${FENCE}`,
    expected: {
      success: true,
      verified: true,
      report: "木星には確認された衛星が97個あります。",
      sources_visited: ["https://minorplanetcenter.net"],
      search_queries_used: ["木星 衛星 数"],
    },
  },
];
