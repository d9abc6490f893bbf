/** Ids of what ChatGPT finds and fetches: a run, a section of its report, or one of its sources. */

export interface Item {
  taskId: string;
  /** As in the outline of the report. */
  section?: string | undefined;
  source?: number | undefined;
}

const FORMAT = /^([0-9a-f-]{36})(?:\/section\/([\d.~+]{1,40})|\/source\/([1-9]\d{0,4}))?$/;

export function itemId({ taskId, section, source }: Item): string {
  if (section !== undefined) return `${taskId}/section/${section}`;
  return source === undefined ? taskId : `${taskId}/source/${source}`;
}

export function parseItemId(id: string): Item | undefined {
  const [, taskId, section, source] = FORMAT.exec(id) ?? [];
  if (taskId === undefined) return undefined;
  return { taskId, section, source: source === undefined ? undefined : Number(source) };
}

/** The run on the dashboard. ChatGPT cites only what has an address. */
export const runAddress = (publicUrl: string, taskId: string): string =>
  `${publicUrl.replace(/\/+$/, "")}/runs/${taskId}`;
