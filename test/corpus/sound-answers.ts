/** Generates valid answers, which are then damaged. */

import type { ExpectedAnswer } from "./corpus-case.ts";
import type { Random } from "./random.ts";

const PASSAGES = [
  "# Findings",
  "## Was die Quellen sagen",
  "The committee met on 4 March and adopted the text without a vote.",
  "It's unclear whether the operator's figures include Sundays.",
  "Die Förderung läuft 2026 aus; ein Nachfolger ist „in Prüfung“, sagt das Ministerium.",
  'Critics call the plan "half-baked" and ask for a new study.',
  'The phrase "net zero" appears 41 times in the report.',
  'He called it "a turning point", while others saw "business as usual".',
  "日本では2024年に3,687万人の訪日客がありました。前年比47.1％増です。",
  "Ελλάδα, Україна and العربية are all spelled correctly 🎉🇪🇺.",
  "| Year | Units | Change |\n|---|---:|---:|\n| 2023 | 1,204 | – |\n| 2024 | 1,377 | +14 % |",
  "- first point\n- second point with **bold** and _italics_\n- third: see [the page](https://www.example.org/a?b=1&c=2#d)",
  "1. Open the settings.\n2. Choose *Advanced*.\n3. Restart.",
  "```python\nfor item in items:\n    print(item)\n```",
  '```bash\ngrep -r "TODO" src | wc -l\n```',
  '```json\n{"retries": 3, "backoff": [1, 2, 5]}\n```',
  "Use `npm ci` in CI and `npm install` at home.",
  "The expression ^\\d{4}-\\d{2}$ matches a month; C:\\Temp\\new is a path.",
  "Write &amp; for an ampersand and &quot; for a quotation mark in HTML.",
  "Costs rose from $1.2m to $1.9m (// source: annual report, p. 12 /* audited */).",
  "A set {a, b} and a list [1, 2] are not the same; neither is True in every case.",
  "> A quoted line\n> over two lines",
  "L'étude porte sur 1 204 patients ; l'effet n'est pas significatif (p = 0,07).",
  "Column A\tColumn B",
  "**Open point:** the two registers differ by 3 %.",
  "See also RFC 9110, section 15.5.",
] as const;

const CLOSING_PASSAGES = [
  "The evidence is therefore good but not conclusive.",
  "Stand der Angaben: November 2026.",
  "以上の通りです。",
  "Sources differ on the exact date 🤷.",
  "Neither claim could be checked against a primary source.",
] as const;

const SOURCES = [
  "https://www.destatis.de/DE/Themen/_inhalt.html",
  "https://en.wikipedia.org/wiki/Eiffel_Tower_(disambiguation)",
  "https://www.example.org/search?q=a+b&lang=en#top",
  "https://www.mlit.go.jp/kankocho/",
  "https://arxiv.org/abs/2401.01234v2",
  "https://eur-lex.europa.eu/legal-content/EN/TXT/?uri=CELEX:32024R1689",
  "https://www.nature.com/articles/s41586-024-07566-y",
  "http://localhost.example:8080/path/%7Euser",
] as const;

const QUERIES = [
  "net zero plan criticism 2026",
  "訪日外客数 2024 年間",
  "site:destatis.de Bevölkerung 2025",
  '"exact phrase" filetype:pdf',
  "operator's annual report",
  "what is {braces} in json",
  "prix du gaz; évolution",
  "C++ vs. Rust [2026]",
] as const;

export interface SoundAnswer {
  schema: "search" | "deep_search";
  answer: ExpectedAnswer;
}

export function drawSoundAnswer(random: Random): SoundAnswer {
  const schema = random.pick(["search", "deep_search"] as const);
  const passages = random.sample(PASSAGES, random.between(1, 6));
  const answer: ExpectedAnswer = {
    success: true,
    // The report always ends with prose, so that a cut cannot be taken for its end.
    report: [...passages, random.pick(CLOSING_PASSAGES)].join("\n\n"),
    sources_visited: random.sample(SOURCES, random.between(1, 4)),
    search_queries_used: random.sample(QUERIES, random.between(1, 3)),
  };
  if (schema === "deep_search") answer.verified = random.next() < 0.5;
  return { schema, answer };
}
