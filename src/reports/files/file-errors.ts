/** Maps file system errors to AppErrors with a suggestion. */

import { statfs } from "node:fs/promises";
import path from "node:path";
import { AppError } from "../../errors.ts";
import { errorCodeOf, isDiskFull } from "../../platform/error-code.ts";

const FORBIDDEN = ["EACCES", "EPERM", "EROFS", "ELOOP"];
const NOT_A_DIRECTORY = ["ENOTDIR", "EEXIST", "ENOENT", "ENAMETOOLONG", "EINVAL"];

interface RefusedFile {
  folder: string;
  name: string;
  neededBytes: number;
}

/** Any other error is returned unchanged. */
export async function fileError(error: unknown, { folder, name, neededBytes }: RefusedFile): Promise<unknown> {
  if (error instanceof AppError) return error;
  const code = errorCodeOf(error);
  if (isDiskFull(error)) {
    const file = path.join(folder, name);
    const available = await availableBytes(folder);
    return new AppError({
      code: "DISK_FULL",
      message: `The disk is full: ${file} needs ${bytes(neededBytes)}${
        available === undefined ? "" : `, and ${bytes(available)} are available`
      }. Nothing was saved.`,
      suggestion: "Free some space or choose another directory. The report is still stored: save it again afterwards.",
      details: {
        path: file,
        needed_bytes: neededBytes,
        ...(available === undefined ? {} : { available_bytes: available }),
      },
      cause: error,
    });
  }
  if (FORBIDDEN.includes(code)) {
    return new AppError({
      code: "PERMISSION_DENIED",
      message: "No permission to write the report to this directory.",
      suggestion: "Choose another directory (an absolute path is safest), or set RESEARCH_REPORTS_DIR.",
      details: { path: folder },
      cause: error,
    });
  }
  if (NOT_A_DIRECTORY.includes(code)) {
    return new AppError({
      code: "INVALID_INPUT",
      message: "The path is not a directory and cannot be created.",
      suggestion: "Choose another directory.",
      details: { path: folder },
      cause: error,
    });
  }
  return error;
}

const bytes = (count: number): string => `${count.toLocaleString("en-US")} bytes`;

/** Reads the nearest existing directory. */
async function availableBytes(directory: string): Promise<number | undefined> {
  try {
    const { bavail, bsize } = await statfs(directory);
    return bavail * bsize;
  } catch {
    const parent = path.dirname(directory);
    return parent === directory ? undefined : availableBytes(parent);
  }
}
