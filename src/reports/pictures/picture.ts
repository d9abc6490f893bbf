/** The type of a report's picture. */

export const PICTURE_TYPES = ["image/png", "image/jpeg", "image/webp"] as const;
export type PictureType = (typeof PICTURE_TYPES)[number];

export interface PictureFacts {
  /** Counted from 1 in text order. */
  n: number;
  mimeType: PictureType;
  width: number;
  height: number;
  byteLength: number;
  /** SHA-256 in hex. */
  hash: string;
  /** The characters of the report before it. */
  offset: number;
}

export interface Picture extends PictureFacts {
  content: Uint8Array;
}
