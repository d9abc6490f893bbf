/** Loads what a start sends besides its question: stored files, and servers with their secrets. */

import { createHash } from "node:crypto";
import { AppError } from "../../errors.ts";
import type { FileFacts, Material, RemoteMcpServer, SentFile } from "../../gemini/research-agent.ts";
import type { ResearchDeps } from "../deps.ts";
import { NOTHING_CHARGED } from "./check-before-sending.ts";
import { findFiles } from "../file-store.ts";

export type LoadedMaterial =
  | { kind: "loaded"; files: SentFile[]; mcpServers: RemoteMcpServer[] }
  /** Something is missing or changed: the start must not be sent without it. */
  | { kind: "refused"; error: AppError };

export async function loadMaterial(
  { db, mcpServer }: Pick<ResearchDeps, "db" | "mcpServer">,
  taskId: string,
  { files = [], mcpServers = [] }: Material = {},
): Promise<LoadedMaterial> {
  try {
    const contents = files.length === 0 ? [] : await findFiles(db, taskId);
    return {
      kind: "loaded",
      files: files.map((facts, index) => verified(facts, contents[index])),
      mcpServers: mcpServers.map((name) => mcpServer(name)),
    };
  } catch (error) {
    return { kind: "refused", error: error instanceof AppError ? unsent(error) : unreadable(error) };
  }
}

/** What the user agreed to send is named by its hash. */
function verified(facts: FileFacts, content: Uint8Array | undefined): SentFile {
  if (content !== undefined && sha256Of(content) === facts.sha256) return { ...facts, content };
  throw new AppError({
    code: "INVALID_INPUT",
    message: `The stored copy of ${facts.name} is ${content === undefined ? "no longer kept" : "damaged"}.`,
    suggestion: "Start the research again with the file.",
  });
}

const sha256Of = (content: Uint8Array): string => createHash("sha256").update(content).digest("hex");

const unsent = ({ code, message, suggestion, details }: AppError): AppError =>
  new AppError({ code, message: `${message} ${NOTHING_CHARGED}`, suggestion, details });

const unreadable = (cause: unknown): AppError =>
  new AppError({
    code: "SQLITE_ERROR",
    message: `The files of this research could not be read from the database. ${NOTHING_CHARGED}`,
    suggestion: "Check the disk and the database, then start again.",
    cause,
  });
