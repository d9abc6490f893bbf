/** The pictures of an answer as MCP content: small ones as images, the rest as links to resources. */

import type { ContentBlock } from "@modelcontextprotocol/server";
import type { OperationDeps } from "../operations/operation.ts";
import type { Success } from "../operations/perform.ts";

/** In base64, of all images of one answer: an answer stays far below what clients accept. */
const MAX_IMAGE_CHARACTERS = 1_000_000;

/** The run was read for its owner by the operation that answered. */
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
