/** The files that a research run gets with its question. They stay in the browser until the start uploads them. */

import type { Upload } from "../../wire.ts";

const TYPES = ".pdf,.txt,.md,.markdown,.csv,.png,.jpg,.jpeg,.webp";
/** The server checks both again. */
const MAX_FILES = 10;
const MAX_FILES_BYTES = 9_000_000;

interface Attachments {
  files: readonly File[];
  onChange: (files: readonly File[]) => void;
}

export const AttachmentField = ({ files, onChange }: Attachments) => (
  <div class="stack tight">
    <label for="attachments">Files to send along</label>
    <input
      id="attachments"
      type="file"
      multiple
      accept={TYPES}
      aria-describedby="attachments-hint"
      onChange={({ currentTarget }) => {
        onChange([...files, ...(currentTarget.files ?? [])]);
        // So that a file that was removed can be chosen again.
        currentTarget.value = "";
      }}
    />
    <span id="attachments-hint" class="small quiet">
      PDF, text, Markdown, CSV or pictures, up to {MAX_FILES_BYTES / 1_000_000} MB. They are sent to Google.
    </span>
    {files.length === 0 ? null : (
      <ul class="attachments">
        {files.map((file) => (
          <li key={`${file.name} ${file.size} ${file.lastModified}`} class="row">
            <span>
              {file.name} <span class="quiet small">{sizeText(file.size)}</span>
            </span>
            <button
              type="button"
              class="button plain small"
              aria-label={`Remove ${file.name}`}
              onClick={() => onChange(files.filter((other) => other !== file))}
            >
              Remove
            </button>
          </li>
        ))}
      </ul>
    )}
  </div>
);

const sizeText = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;

/** Returns why these files cannot be sent, or undefined. */
export function attachmentProblem(files: readonly File[]): string | undefined {
  if (files.length > MAX_FILES) return `At most ${MAX_FILES} files can be sent.`;
  const bytes = files.reduce((sum, file) => sum + file.size, 0);
  return bytes > MAX_FILES_BYTES ? `The files are larger than ${MAX_FILES_BYTES / 1_000_000} MB together.` : undefined;
}

export async function uploadsOf(files: readonly File[]): Promise<{ uploads?: Upload[] }> {
  if (files.length === 0) return {};
  return { uploads: await Promise.all(files.map(async (file) => ({ name: file.name, data: await base64Of(file) }))) };
}

function base64Of(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("error", () => reject(new Error("The file cannot be read.")));
    reader.addEventListener("load", () => {
      const url = typeof reader.result === "string" ? reader.result : "";
      resolve(url.slice(url.indexOf(",") + 1));
    });
    reader.readAsDataURL(file);
  });
}
