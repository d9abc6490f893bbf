/** A user's own material for a research run: input fields, and checks before anything is stored. */

import { z } from "zod";
import { LOCAL_OWNER } from "../../caller.ts";
import { AppError } from "../../errors.ts";
import type { Material, SentFile } from "../../gemini/research-agent.ts";
import { webUrl } from "../../reports/web-address.ts";
import { materialOf } from "../../runs/start/start-options.ts";
import type { Call, OperationDeps, Question } from "../operation.ts";

/** Documented for the tool with which the agent reads pages. */
const MAX_URLS = 20;
const MAX_NAMES = 10;
const MAX_PATH_CHARACTERS = 4_096;

interface ListRules {
  max: number;
  isEntry: (text: string) => boolean;
  /** What each entry must be. */
  entry: string;
}

/** The rules are checks of our own: as parts of the schema they would lengthen the list that every model reads. */
const textList = (name: string, { max, isEntry, entry }: ListRules) =>
  z
    .array(z.string({ error: `{${name}} must be a list of strings.` }), {
      error: `{${name}} must be a list of strings.`,
    })
    .refine((entries) => entries.length <= max, { error: `{${name}} must have at most ${max} entries.` })
    .refine((entries) => entries.every(isEntry), { error: `{${name}} must be ${entry}.` })
    .optional();

export const materialFields = {
  files: textList("files", {
    max: MAX_NAMES,
    isEntry: (path) => path.trim() !== "" && path.length <= MAX_PATH_CHARACTERS && !path.includes("\0"),
    entry: "paths of files",
  }).describe("Paths of files to send: PDF, text, CSV, pictures."),
  urls: textList("urls", {
    max: MAX_URLS,
    isEntry: (url) => webUrl(url) !== undefined,
    entry: "http or https addresses without a password",
  }).describe("Pages to read."),
  file_search_stores: textList("file_search_stores", {
    max: MAX_NAMES,
    isEntry: (name) => /^fileSearchStores\/[a-z0-9-]{1,60}$/.test(name),
    entry: "names such as fileSearchStores/my-store",
  }).describe("fileSearchStores/…"),
  mcp_servers: textList("mcp_servers", {
    max: MAX_NAMES,
    isEntry: (name) => /^[\w-]{1,41}$/.test(name),
    entry: "names from GEMINI_SEARCH_MCP_SERVERS",
  }).describe("Names the user configured."),
};

interface MaterialInput {
  files?: string[] | undefined;
  urls?: string[] | undefined;
  file_search_stores?: string[] | undefined;
  mcp_servers?: string[] | undefined;
}

export interface GivenMaterial {
  /** Undefined without any. */
  material: Material | undefined;
  files: SentFile[];
  /** A rough count, for the estimate. */
  tokens: number;
}

export const hasMaterial = (
  { uploads = [] }: Pick<Call, "uploads">,
  { files = [], urls = [], file_search_stores: stores = [], mcp_servers: servers = [] }: MaterialInput,
): boolean => uploads.length + files.length + urls.length + stores.length + servers.length > 0;

/** Checks and reads the material of a start. Throws before anything is stored or sent. */
export async function readMaterial(
  deps: OperationDeps,
  call: Call,
  { files: paths = [], urls = [], file_search_stores: stores = [], mcp_servers: servers = [] }: MaterialInput,
): Promise<GivenMaterial> {
  if (paths.length > 0 && call.from === "network") throw notFromServer();
  if (stores.length + servers.length > 0 && call.owner !== LOCAL_OWNER) throw operatorOnly();
  for (const name of servers) deps.mcpServer(name);
  const files = await filesOf(deps, call, paths);
  const material: Material = {
    ...(files.length === 0 ? {} : { files: files.map(({ content: _content, ...facts }) => facts) }),
    ...(urls.length === 0 ? {} : { urls: urls.map((url) => webUrl(url) ?? url) }),
    ...(stores.length === 0 ? {} : { fileSearchStores: stores }),
    ...(servers.length === 0 ? {} : { mcpServers: servers }),
  };
  const { tokensOf } = await import("../../material/read-files.ts");
  const tokens = files.reduce((sum, file) => sum + tokensOf(file), call.expectedTokens ?? 0);
  return { material: Object.keys(material).length === 0 ? undefined : material, files, tokens };
}

/** A rough count of the tokens of the files that a run sent, for the estimate of a restart. */
export async function tokensSent({ options }: { options: Record<string, unknown> }): Promise<number> {
  const { tokensOf } = await import("../../material/read-files.ts");
  return (materialOf(options)?.files ?? []).reduce((sum, file) => sum + tokensOf(file), 0);
}

/** Adds to a question how many files the user's consent sends. Not their names: a question has only our own words. */
export function withFiles(question: Question, files: readonly SentFile[]): Question {
  if (files.length === 0) return question;
  const sends = `It sends ${files.length === 1 ? "a file" : `${files.length} files`} to Google.`;
  return { ...question, ask: `${question.ask} ${sends}`, because: `${question.because} ${sends}` };
}

async function filesOf({ settings }: OperationDeps, call: Call, paths: string[]): Promise<SentFile[]> {
  const { uploads = [] } = call;
  if (paths.length + uploads.length === 0) return [];
  const { checkFile, checkTotal, readFiles } = await import("../../material/read-files.ts");
  checkTotal(uploads.map(({ content }) => ({ bytes: content.length })));
  const roots = call.hasTypedPaths === true ? "any" : settings.files.roots;
  const files = [...(await readFiles(paths, { ...settings.files, roots })), ...uploads.map(checkFile)];
  checkTotal(files);
  return files;
}

const notFromServer = (): AppError =>
  new AppError({
    code: "INVALID_INPUT",
    message: "files cannot be used over HTTP: the paths would be those of the server. Nothing was sent.",
    suggestion: "Attach the files on the page, or use the server over stdio or in a terminal.",
    details: { field: "files" },
  });

/** Both are reached with the operator's credentials. */
const operatorOnly = (): AppError =>
  new AppError({
    code: "PERMISSION_DENIED",
    message: "File search stores and MCP servers belong to the operator of this server. Nothing was sent.",
    suggestion: "Omit them.",
  });
