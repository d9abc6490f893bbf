/** Pictures of an answer as MCP content: small ones as images, the rest as links to resources. */

import type { ContentBlock } from "@modelcontextprotocol/server";
import type { OperationDeps } from "../operations/operation.ts";
import type { Success } from "../operations/perform.ts";

/** Base64 characters of all images of one answer, which so stays far below the size that clients accept. */
const MAX_IMAGE_CHARACTERS = 1_000_000;

/** Needs no check of the owner: the operation that answered has read the run as its owner. */
export async function pictureContent(
  { database }: Pick<OperationDeps, "database">,
  pictures: Success<unknown>["pictures"],
): Promise<ContentBlock[]> {
  if (pictures === undefined || pictures.links.length === 0) return [];
  const { findPicture } = await import("../runs/picture-store.ts");
  const db = await database();
  const content: ContentBlock[] = [];
  let left = MAX_IMAGE_CHARACTERS;
  for (const { n, uri, mime_type: mimeType, bytes } of pictures.links) {
    const characters = Math.ceil(bytes / 3) * 4;
    const picture = characters <= left ? await findPicture(db, pictures.taskId, n) : undefined;
    if (picture === undefined) {
      content.push({ type: "resource_link", uri, name: `picture ${n}`, mimeType, size: bytes });
    } else {
      left -= characters;
      content.push({ type: "image", data: Buffer.from(picture.content).toString("base64"), mimeType });
    }
  }
  return content;
}
