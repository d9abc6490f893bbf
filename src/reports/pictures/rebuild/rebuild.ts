/**
 * Rewrites a received picture with only the parts that draw it. A file can be a valid picture and something else at
 * the same time, such as an archive after its end or a script in a comment: none of that is stored, served or saved.
 */

import type { PictureType } from "../picture.ts";
import { rebuildJpeg } from "./jpeg.ts";
import { rebuildPng } from "./png.ts";
import { rebuildWebp } from "./webp.ts";

const BY_TYPE: Record<PictureType, (bytes: Buffer) => Buffer | undefined> = {
  "image/png": rebuildPng,
  "image/jpeg": rebuildJpeg,
  "image/webp": rebuildWebp,
};

/** Undefined if the picture is cut off or its structure is invalid. The pixels are not decoded. */
export const rebuildPicture = (content: Buffer, type: PictureType): Buffer | undefined => BY_TYPE[type](content);
