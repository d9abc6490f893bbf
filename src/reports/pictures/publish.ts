/** Writes the pictures of a report into a folder of their own beside it: whole or absent, and never over another. */

import { lstat, mkdir, open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { AppError } from "../../errors.ts";
import { patiently } from "../../platform/clock.ts";
import { holdFolder } from "../files/allowed-root.ts";
import { codeOf } from "../files/file-errors.ts";
import { temporaryName } from "../files/publish-file.ts";
import type { Picture } from "./picture.ts";

export interface NewPictures {
  /** The folder of the report. */
  directory: string;
  pictures: readonly Picture[];
  /** The names of the report to try, counted from 1, with their ending. */
  name: (number: number) => string;
  allowed: ((directory: string) => Promise<void>) | undefined;
}

export interface PublishedPictures {
  /** The name of the folder. */
  folder: string;
  /** The number of the report's name that belongs to it. */
  number: number;
}

const MAX_NAMES = 10_000;

export async function publishPictures(request: NewPictures): Promise<PublishedPictures> {
  const { directory, name } = request;
  const temporary = path.join(directory, temporaryName(crypto.randomUUID()));
  await mkdir(temporary);
  try {
    await writePictures(temporary, request);
    for (let number = 1; number <= MAX_NAMES; number += 1) {
      const report = name(number);
      const folder = picturesFolder(report);
      const isFree = (await isAbsent(directory, report)) && (await isAbsent(directory, folder));
      if (isFree && (await takeFolder(temporary, path.join(directory, folder)))) return { folder, number };
    }
  } catch (error) {
    await rm(temporary, { force: true, recursive: true }).catch(() => undefined);
    throw error;
  }
  throw new AppError({
    code: "EXECUTION_ERROR",
    message: "There are too many reports of this run from this very second.",
    suggestion: "Try again in a second.",
  });
}

/** Only of a folder that was just published and whose report could not be. */
export const withdrawPictures = (directory: string, folder: string): Promise<void> =>
  rm(path.join(directory, folder), { force: true, recursive: true });

const picturesFolder = (report: string): string => `${report.replace(/\.md$/, "")}_files`;

const ENDINGS = { "image/png": "png", "image/jpeg": "jpg", "image/webp": "webp" };

/** Digits, letters and a dot: no name needs escaping in a link. */
export const pictureFileName = ({ n, hash, mimeType }: Pick<Picture, "n" | "hash" | "mimeType">): string =>
  `${n}-${hash.slice(0, 12)}.${ENDINGS[mimeType]}`;

async function writePictures(folder: string, { pictures, allowed }: NewPictures): Promise<void> {
  // The name of a folder that was just made can lead elsewhere a moment later.
  const held = allowed === undefined ? undefined : await holdFolder(folder, allowed);
  try {
    for (const picture of pictures) {
      const file = await open(path.join(held?.way ?? folder, pictureFileName(picture)), "wx", 0o644);
      try {
        await file.writeFile(picture.content);
        await file.sync();
      } finally {
        await file.close();
      }
    }
  } finally {
    await held?.release();
  }
}

/** Links count, also those that lead nowhere. */
async function isAbsent(directory: string, name: string): Promise<boolean> {
  const found = await lstat(path.join(directory, name)).catch(() => undefined);
  if (found?.isSymbolicLink() !== true) return found === undefined;
  throw new AppError({
    code: "PERMISSION_DENIED",
    message: "A symbolic link stands where the report would go; nothing was saved.",
    suggestion: "Remove the link or choose another output_dir.",
  });
}

/** A folder with files in it is never replaced; false where another process was quicker. */
async function takeFolder(temporary: string, target: string): Promise<boolean> {
  try {
    await patiently(() => rename(temporary, target));
    return true;
  } catch (error) {
    if (["ENOTEMPTY", "EEXIST", "ENOTDIR"].includes(codeOf(error))) return false;
    throw error;
  }
}
