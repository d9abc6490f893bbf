/** Writes the pictures of a report into a folder beside it: completely or not at all, and never over another folder. */

import { lstat, mkdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { retryWhileFileBusy } from "../../platform/replace-file.ts";
import { errorCodeOf } from "../../platform/error-code.ts";
import { pinFolder } from "../files/allowed-root.ts";
import { firstFree, isAbsent, temporaryName, writeFlushed } from "../files/publish-file.ts";
import type { Picture } from "./picture.ts";

export interface NewPictures {
  directory: string;
  pictures: readonly Picture[];
  /** The candidate file names of the report, counted from 1, with extension. */
  name: (number: number) => string;
  assertAllowed: ((directory: string) => Promise<void>) | undefined;
  /** Together with an earlier version of the report, whose folder is then used. */
  replaces?: boolean;
}

export interface PublishedPictures {
  folder: string;
  /** The number of the report name that the folder belongs to. */
  number: number;
  /** Whether it holds nothing else. */
  isNew: boolean;
}

export async function publishPictures(request: NewPictures): Promise<PublishedPictures> {
  const { directory, name, replaces = false } = request;
  if (replaces && (await addPictures(request))) return { folder: picturesFolder(name(1)), number: 1, isNew: false };
  const temporary = path.join(directory, temporaryName(crypto.randomUUID()));
  await mkdir(temporary);
  try {
    await writePictures(temporary, request);
    const number = await firstFree(async (candidate) => {
      const report = name(candidate);
      const folder = path.join(directory, picturesFolder(report));
      const isFree = (await isAbsent(path.join(directory, report))) && (await isAbsent(folder));
      return (isFree || replaces) && claimFolder(temporary, folder);
    });
    return { folder: picturesFolder(name(number)), number, isNew: true };
  } catch (error) {
    await rm(temporary, { force: true, recursive: true }).catch(() => undefined);
    throw error;
  }
}

/** Pictures that are there already have the same names and contents. Returns false if there is no such folder. */
async function addPictures({ directory, name, pictures }: NewPictures): Promise<boolean> {
  const folder = path.join(directory, picturesFolder(name(1)));
  const found = await lstat(folder).catch(() => undefined);
  if (found?.isDirectory() !== true) return false;
  for (const picture of pictures) {
    await writeFlushed(path.join(folder, pictureFileName(picture)), picture.content).catch((error: unknown) => {
      if (errorCodeOf(error) !== "EEXIST") throw error;
    });
  }
  return true;
}

/** Only for a folder just published whose report could not be saved. */
export const withdrawPictures = (directory: string, folder: string): Promise<void> =>
  rm(path.join(directory, folder), { force: true, recursive: true });

const picturesFolder = (report: string): string => `${report.replace(/\.[^.]+$/, "")}_files`;

const ENDINGS = { "image/png": "png", "image/jpeg": "jpg", "image/webp": "webp" };

/** Digits, letters and a dot: needs no escaping in a link. */
export const pictureFileName = ({ n, hash, mimeType }: Pick<Picture, "n" | "hash" | "mimeType">): string =>
  `${n}-${hash.slice(0, 12)}.${ENDINGS[mimeType]}`;

async function writePictures(folder: string, { pictures, assertAllowed }: NewPictures): Promise<void> {
  // The path of a folder just created can be replaced before it is used.
  const pinned = assertAllowed === undefined ? undefined : await pinFolder(folder, assertAllowed);
  try {
    for (const picture of pictures) {
      await writeFlushed(path.join(pinned?.path ?? folder, pictureFileName(picture)), picture.content);
    }
  } finally {
    await pinned?.close();
  }
}

/** A non-empty folder is never replaced; returns false if another process was faster. */
async function claimFolder(temporary: string, target: string): Promise<boolean> {
  try {
    await retryWhileFileBusy(() => rename(temporary, target));
    return true;
  } catch (error) {
    if (["ENOTEMPTY", "EEXIST", "ENOTDIR"].includes(errorCodeOf(error))) return false;
    throw error;
  }
}
