/** Fixture resources: a text, an image, one by template, one to subscribe to. */

import type { ReadResourceResult, Resource, ResourceTemplateType } from "@modelcontextprotocol/server";
import { PIXEL } from "./content-tools.ts";

const WATCHED_URI = "test://watched-resource";
const text = (uri: string, content: string) => ({ uri, mimeType: "text/plain", text: content });

const CONTENTS = [
  text("test://static-text", "This is the content of the static text resource."),
  text(WATCHED_URI, "This resource can be watched."),
  { uri: "test://static-binary", mimeType: PIXEL.mimeType, blob: PIXEL.data },
];

export const FIXTURE_RESOURCES: Resource[] = CONTENTS.map(({ uri, mimeType }) => ({
  uri,
  name: uri.replace("test://", ""),
  description: "A fixture.",
  mimeType,
}));

export const FIXTURE_TEMPLATES: ResourceTemplateType[] = [
  {
    uriTemplate: "test://template/{id}/data",
    name: "template",
    description: "A fixture.",
    mimeType: "application/json",
  },
];

export const canWatchFixture = (uri: string): boolean => uri === WATCHED_URI;

/** Returns undefined for an unknown resource. */
export function readFixture(uri: string): ReadResourceResult | undefined {
  const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri) ?? [];
  if (id !== undefined) {
    const data = { id, templateTest: true, data: `Data for ID: ${id}` };
    return { contents: [{ uri, mimeType: "application/json", text: JSON.stringify(data) }] };
  }
  const content = CONTENTS.find((one) => one.uri === uri);
  return content === undefined ? undefined : { contents: [content] };
}
