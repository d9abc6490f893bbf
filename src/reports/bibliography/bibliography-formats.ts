/** The bibliography formats, with ending and media type of their files. */

export const BIBLIOGRAPHY_FORMATS = ["bibtex", "ris", "csl"] as const;
export type BibliographyFormat = (typeof BIBLIOGRAPHY_FORMATS)[number];

/** Ending and media type of a file. */
export const BIBLIOGRAPHY_FILES: Record<BibliographyFormat, { ending: "bib" | "ris" | "json"; type: string }> = {
  bibtex: { ending: "bib", type: "application/x-bibtex" },
  ris: { ending: "ris", type: "application/x-research-info-systems" },
  csl: { ending: "json", type: "application/vnd.citationstyles.csl+json" },
};
