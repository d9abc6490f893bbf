/**
 * Public collections of claims, passages and what people say about them. They are read where they lie and are no part of
 * the repository: their files are looked for beside the checkout, or in the directories of `--collections`.
 */

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { PageText } from "../../src/pages/page.ts";
import { pageOf, readPairs, textPage } from "./labelled-pairs.ts";

export interface LabelledClaim {
  id: string;
  claim: string;
  page: PageText;
  /** What people say: the page says it, says a part of it, or does not say it. */
  label: "said" | "partly" | "not said";
}

export interface Collection {
  name: string;
  claims: LabelledClaim[];
}

/** Half of each collection is for fitting, by the first byte of the SHA-256 of the claim; figures are of the other half. */
export const isForFitting = ({ claim }: Pick<LabelledClaim, "claim">): boolean =>
  (createHash("sha256").update(claim).digest()[0] ?? 0) % 2 === 0;

const BESIDE_THE_CHECKOUT = join(import.meta.dirname, "../../../shared/data/public");

/** Claims of reports have neither marks of citations nor emphasis. */
const plainClaim = (text: string): string =>
  text
    .replaceAll(/\s?\[\d{1,3}\]|\*\*/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();

const pathOf = (name: string, directories: readonly string[]): string | undefined =>
  [...directories, BESIDE_THE_CHECKOUT].map((directory) => join(directory, name)).find((path) => existsSync(path));

export const readCollections = (directories: readonly string[] = []): Collection[] =>
  FILES.flatMap(({ name, read }) => {
    const path = pathOf(name, directories);
    return path === undefined ? [] : read(path);
  });

/** Files that were not found, each with where it is from. */
export const missingCollections = (directories: readonly string[] = []): string[] =>
  FILES.filter(({ name }) => pathOf(name, directories) === undefined).map(({ name, from }) => `${name} (${from})`);

interface CollectionFile {
  name: string;
  /** On GitHub. */
  from: string;
  read: (path: string) => Collection[];
}

const FILES: readonly CollectionFile[] = [
  { name: "dev_all_subset_balanced.jsonl", from: "OSU-NLP-Group/AttributionBench, data", read: readAttributionBench },
  {
    name: "wice-dev.json",
    from: "ryokamoi/wice, dev claims in the form of bench/data",
    read: (path) => [{ name: "WiCE", claims: readOwnFormat(path) }],
  },
  {
    name: "factcheck-gpt.json",
    from: "yuxiaw/Factcheck-GPT, subtask 3 in the form of bench/data",
    read: (path) => [{ name: "Factcheck-GPT", claims: readOwnFormat(path) }],
  },
  {
    name: "valid-v1.3.json",
    from: "yahoojapan/JGLUE, datasets/jnli-v1.3",
    read: (path) => [{ name: "JNLI", claims: readJnli(path) }],
  },
];

const LABELS = { supported: "said", weak: "partly", unsupported: "not said", contradicted: "not said" } as const;

export const readOwnFormat = (file: string): LabelledClaim[] =>
  readPairs(file).flatMap((pair) => {
    const [{ id, claim, expected }, content] = [pair, pageOf(pair)];
    if (expected === "unreadable" || expected === "gone" || content.outcome !== "text") return [];
    return { id, claim: plainClaim(claim), page: content.page, label: LABELS[expected] };
  });

const attribution = z.object({
  id: z.string(),
  claim: z.string(),
  references: z.array(z.string()),
  attribution_label: z.enum(["attributable", "not attributable"]),
  src_dataset: z.string(),
});

function readAttributionBench(file: string): Collection[] {
  const rows = linesOf(file).map((line) => attribution.parse(JSON.parse(line)));
  return [...Map.groupBy(rows, ({ src_dataset: name }) => name)].map(([name, found]) => ({
    name,
    claims: found.map(({ id, claim, references, attribution_label: label }) => ({
      id,
      claim: plainClaim(claim),
      page: textPage("", references.join("\n\n")),
      label: label === "attributable" ? "said" : "not said",
    })),
  }));
}

const inference = z.object({
  sentence_pair_id: z.string(),
  sentence1: z.string(),
  sentence2: z.string(),
  label: z.enum(["entailment", "neutral", "contradiction"]),
});

const readJnli = (file: string): LabelledClaim[] =>
  linesOf(file)
    .map((line) => inference.parse(JSON.parse(line)))
    .map(({ sentence_pair_id: id, sentence1, sentence2, label }) => ({
      id: `jnli-${id}`,
      claim: sentence2,
      page: { title: "", blocks: [sentence1] },
      label: label === "entailment" ? "said" : "not said",
    }));

const linesOf = (file: string): string[] =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "");
