/** Checks whether Firecrawl is configured, and the warning for a configuration that nothing uses. */

interface FirecrawlSettings {
  FIRECRAWL_API_KEY: string | undefined;
  FIRECRAWL_API_URL: string | undefined;
}

export const hasFirecrawl = ({ FIRECRAWL_API_KEY: key, FIRECRAWL_API_URL: url }: FirecrawlSettings): boolean =>
  key !== undefined || url !== undefined;

export const FIRECRAWL_UNUSED = "Firecrawl is configured, but not used: only the Gemini CLI can use it.";
