/** The Gemini CLI's settings: only what web research needs, merged with the user's own edits. */

type Json = null | boolean | number | string | Json[] | Settings;
export interface Settings {
  [name: string]: Json;
}

export interface ManagedSettings {
  signInType: string | undefined;
  firecrawl: Firecrawl;
}

export interface Firecrawl {
  apiKey?: string | undefined;
  apiUrl?: string | undefined;
}

const SEARCH_TOOLS = ["google_web_search", "web_fetch"];
const FIRECRAWL_TOOLS = "mcp_firecrawl_*";
/** Limit for Firecrawl's start and for each tool call. A Firecrawl server that hangs delays a search, but never fails it. */
const FIRECRAWL_TIMEOUT_MS = 30_000;

/** Added if missing; the user may change each of them. */
const LEAN_DEFAULTS: Settings = {
  general: {
    plan: { enabled: false },
    topicUpdateNarration: false,
    enableAutoUpdate: false,
    enableAutoUpdateNotification: false,
    // We retry ourselves, and the CLI's default of ten attempts takes over three minutes.
    maxAttempts: 3,
  },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  // The working directory is ours and empty; with folder trust enabled the CLI exits with code 55.
  security: { folderTrust: { enabled: false } },
  // In a sandbox the CLI would move the prompt into a command line.
  tools: { core: SEARCH_TOOLS, sandbox: false },
  // Also excludes servers from a machine-wide settings file.
  mcp: { allowed: ["firecrawl"] },
  context: { includeDirectoryTree: false, memoryBoundaryMarkers: [] },
  advanced: { ignoreLocalEnv: true },
  experimental: { enableAgents: false },
  skills: { enabled: false },
  hooksConfig: { enabled: false },
};

/** The settings file of our home: the user's edits, missing defaults, and our current entries. */
export function mergeSettings(existing: Settings, managed: ManagedSettings): Settings {
  const settings = structuredClone(existing);
  addMissing(settings, LEAN_DEFAULTS);
  const auth = objectIn(objectIn(settings, "security"), "auth");
  if (managed.signInType === undefined) delete auth["selectedType"];
  else auth["selectedType"] = managed.signInType;
  manageFirecrawl(settings, managed.firecrawl);
  return settings;
}

export function settingsForCall(
  settings: Settings,
  call: { purpose: "research" | "correction" | "judgement" },
): Settings {
  const own = structuredClone(settings);
  if (call.purpose !== "research") {
    delete own["mcpServers"];
    // With an empty list the CLI would send a tool without functions, which the API rejects with 400.
    objectIn(own, "tools")["core"] = ["google_web_search"];
  }
  return own;
}

function manageFirecrawl(settings: Settings, firecrawl: Firecrawl): void {
  const configured = firecrawl.apiKey !== undefined || firecrawl.apiUrl !== undefined;
  const servers = objectIn(settings, "mcpServers");
  const tools = objectIn(settings, "tools");
  const listed = Array.isArray(tools["core"]) ? tools["core"] : SEARCH_TOOLS;
  const core = listed.filter((tool) => tool !== FIRECRAWL_TOOLS);
  if (configured) {
    servers["firecrawl"] = firecrawlServer(firecrawl);
    tools["core"] = [...core, FIRECRAWL_TOOLS];
  } else {
    delete servers["firecrawl"];
    tools["core"] = core;
  }
  if (Object.keys(servers).length === 0) delete settings["mcpServers"];
}

/** The values are only in the child's environment; the CLI substitutes `$NAME` when it reads the file. */
function firecrawlServer(firecrawl: Firecrawl): Settings {
  const env: Settings = {};
  // An unset variable would be passed on as the text `$NAME`.
  if (firecrawl.apiKey !== undefined) env["FIRECRAWL_API_KEY"] = "$FIRECRAWL_API_KEY";
  if (firecrawl.apiUrl !== undefined) env["FIRECRAWL_API_URL"] = "$FIRECRAWL_API_URL";
  return {
    command: "npx",
    args: ["-y", "firecrawl-mcp"],
    env,
    // Without trust, a non-interactive CLI silently omits the server's tools.
    trust: true,
    includeTools: ["firecrawl_scrape", "firecrawl_search"],
    timeout: FIRECRAWL_TIMEOUT_MS,
  };
}

function addMissing(settings: Settings, defaults: Settings): void {
  for (const [name, value] of Object.entries(defaults)) {
    const present = settings[name];
    if (present === undefined) settings[name] = structuredClone(value);
    else if (isObject(present) && isObject(value)) addMissing(present, value);
  }
}

/** The object of that name, created if missing. */
function objectIn(settings: Settings, name: string): Settings {
  const present = settings[name];
  if (isObject(present)) return present;
  const made: Settings = {};
  settings[name] = made;
  return made;
}

const isObject = (value: Json | undefined): value is Settings =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Parses an object of JSON with comments, as the CLI does. Undefined for anything else. */
export function parseSettings(text: string): Settings | undefined {
  try {
    const value: Json = JSON.parse(withoutComments(text));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const STRING_OR_COMMENT = /"(?:[^"\\]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;

function withoutComments(text: string): string {
  return text.replace(/^\uFEFF/, "").replaceAll(STRING_OR_COMMENT, (part) => (part.startsWith('"') ? part : " "));
}
