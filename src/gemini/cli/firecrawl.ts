/** Whether Firecrawl is configured, and what is logged when no Gemini CLI can use it. */

interface FirecrawlSettings {
  FIRECRAWL_API_KEY: string | undefined;
  FIRECRAWL_API_URL: string | undefined;
}

export const hasFirecrawl = ({ FIRECRAWL_API_KEY: key, FIRECRAWL_API_URL: url }: FirecrawlSettings): boolean =>
  key !== undefined || url !== undefined;

export const FIRECRAWL_IS_IDLE = "Firecrawl is configured, but only the Gemini CLI can use it; it is not used.";
