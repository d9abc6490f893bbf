/** Exports everything as one archive, and imports archives and Markdown reports. */

import { useRef } from "preact/hooks";
import type { Imported } from "../../wire.ts";
import { fetchJson } from "../app/request.ts";
import { receive } from "../live/live.ts";
import { DownloadButton } from "../ui/buttons.tsx";
import { useSending } from "../ui/forms.tsx";
import { Menu } from "../ui/menu.tsx";
import { announce, Problem } from "../ui/parts.tsx";

interface ImportButtonProps {
  /** Receives what was imported. The first import takes the place of this button. */
  done: (message: string) => void;
}

export function ImportButton({ done }: ImportButtonProps) {
  const { pending, error, send } = useSending<"import">();
  const field = useRef<HTMLInputElement>(null);
  const importFiles = async (files: readonly File[]): Promise<void> => {
    const messages: string[] = [];
    await send("import", async () => {
      for (const file of files) messages.push((await importFile(file)).message);
    });
    receive("runs", { runs: [], list_changed: true });
    const text = [...new Set(messages)].join(" ");
    if (text === "") return;
    done(text);
    // What went wrong is shown in the menu.
    field.current?.closest("details")?.removeAttribute("open");
    announce(text);
  };
  return (
    <>
      <input
        ref={field}
        type="file"
        class="unseen"
        tabIndex={-1}
        aria-label="Markdown reports or exported archives"
        multiple
        accept=".md,.markdown,.txt,.zip"
        onChange={({ currentTarget }) => {
          void importFiles([...(currentTarget.files ?? [])]);
          currentTarget.value = "";
        }}
      />
      <button
        type="button"
        class="button small"
        disabled={pending !== undefined}
        onClick={() => field.current?.click()}
      >
        {pending === undefined ? "Import…" : "Importing…"}
      </button>
      <Problem error={error} />
    </>
  );
}

const importFile = (file: File): Promise<Imported> =>
  fetchJson(`/api/library?${new URLSearchParams({ name: file.name, at: String(file.lastModified) }).toString()}`, {
    method: "POST",
    headers: { "content-type": "application/octet-stream" },
    body: file,
  });

interface ListMenuProps {
  imported: (message: string) => void;
  select: () => void;
}

/** What is done with the list as a whole. */
export const ListMenu = ({ imported, select }: ListMenuProps) => (
  <Menu label="…" name="More">
    <button type="button" class="button small" onClick={select}>
      Select
    </button>
    <DownloadButton path="/api/library.zip" label="Export everything" />
    <ImportButton done={imported} />
  </Menu>
);
