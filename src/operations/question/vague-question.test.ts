import { expect, test } from "vitest";
import { isRefusal, isVague, withDetails } from "./vague-question.ts";

const VAGUE = {
  English: [
    "AI",
    "Tell me about AI",
    "What is love?",
    "cars",
    "Research climate change",
    "the economy",
    "Best phone?",
    "information about health",
    "Tesla",
    "What's new?",
    "Explain everything about energy",
  ],
  German: [
    "KI",
    "Erzähl mir etwas über KI",
    "Was ist Liebe?",
    "Informationen über Autos",
    "Klimawandel",
    "Thema Energie",
    "Was gibt es Neues?",
  ],
  Japanese: ["AIについて教えて", "地震", "ヒートポンプとは", "日本の経済", "健康について", "最新情報を教えてください"],
};

const CLEAR = {
  English: [
    "How do heat pumps perform in cold climates?",
    "Heat pump subsidies in Germany",
    "Tesla revenue 2025",
    "EU AI Act deadlines",
    "Causes of World War I",
    "CRISPR off-target effects",
    "quantum error correction progress",
    "impact of remote work on productivity",
    "Is creatine safe for teenagers?",
  ],
  German: [
    "Wärmepumpenförderung 2026",
    "Wie entwickelt sich der Strompreis in Österreich?",
    "Vergleich von Balkonkraftwerken",
    "Klimawandel in Bayern",
    "Nebenwirkungen von Ozempic",
    "Kündigungsschutz in der Probezeit",
  ],
  Japanese: [
    "日本の寒冷地におけるヒートポンプの性能比較",
    "2025年の東京の地価動向",
    "トヨタの全固体電池の開発状況",
    "リモートワークが生産性に与える影響",
    "円安が輸入企業に与える影響",
  ],
};

test.each(["English", "German", "Japanese"] as const)(
  "vague questions in %s are distinguished from clear ones (V7)",
  (language) => {
    expect(CLEAR[language].filter(isVague)).toEqual([]);
    expect(VAGUE[language].filter((query) => !isVague(query))).toEqual([]);
  },
);

test("a text that explains itself is never vague (V7)", () => {
  expect(isVague("https://example.org/paper")).toBe(false);
  expect(isVague("AI\nfor whom?")).toBe(false);
  expect(isVague("and so on ".repeat(15))).toBe(false);
});

test("details are added to the question, cleaned and bounded; a skipped answer changes nothing (V7)", () => {
  for (const skipped of ["", "  ", undefined, 5, null]) expect(withDetails("AI", skipped)).toBe("AI");
  expect(withDetails(" AI ", "in \u001B[31mschools")).toBe("AI\n\nWhat is meant: in schools");
  expect(withDetails("AI", "x".repeat(5_000))).toHaveLength("AI\n\nWhat is meant: ".length + 2_000);
});

test("a word that declines is no answer, in any case and with any punctuation; a yes adds nothing (V7)", () => {
  for (const no of ["n", "N", "no", "No.", "later", "Q", "quit", "CANCEL", " n ", "'n'", "n\r", "no!"])
    expect(isRefusal(no), no).toBe(true);
  for (const answer of ["", "Norway", "no subsidies", "later years", "quantum", "cancel culture", undefined, 0])
    expect(isRefusal(answer), String(answer)).toBe(false);
  for (const yes of ["y", "Yes", "ok"]) expect(withDetails("AI", yes)).toBe("AI");
});
