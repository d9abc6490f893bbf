/** Converts events of Google's progress stream into events of a run: thoughts, searches, sites and the start of writing. */

import type { AgentEvent } from "../../gemini/research-agent.ts";
import { siteKey, siteOf } from "../../reports/site.ts";
import { WRITING } from "../activity/activity.ts";
import type { RunEvent } from "../event-store.ts";

export interface StreamEvent extends RunEvent {
  /** Not an action of the agent: the report cites many pages while it is written. */
  isSilent?: boolean | undefined;
}

/** An event before it has a time and a key. */
interface Converted extends Pick<StreamEvent, "kind" | "text" | "site" | "isSilent"> {
  /** Given for what is stored once per interaction, however often it is streamed. */
  once?: string;
}

/** Begins the text of an event for a page that the report cites. */
const CITING = "Citing: ";

/** Google's largest runs search 160 times. */
const MAX_SITES = 500;

/** Returns nothing for events that are not stored, and for sites that this stream has named before. */
export function createEventConverter({ isPlanning = false } = {}): (event: AgentEvent) => Converted[] {
  const named = new Set<string>();
  let isWriting = false;
  // Distinct ones: a stream that is opened again may repeat its events.
  const queries = new Set<string>();
  return (event) => {
    if (event.kind === "thought") return [{ kind: "thought", text: event.text }];
    if (event.kind === "search") {
      isWriting = false;
      queries.add(event.query);
      return [{ kind: "search", text: `Searching: ${event.query}` }];
    }
    // The text of a planning turn is a plan, and the phase of the research that follows must not be "writing".
    if (event.kind === "text" && !isWriting && !isPlanning) {
      isWriting = true;
      return [{ kind: "phase", text: WRITING, once: `writing ${queries.size}` }];
    }
    if (event.kind !== "page") return [];
    const site = siteOf(event);
    if (site === undefined || named.size >= MAX_SITES || named.has(siteKey(site))) return [];
    named.add(siteKey(site));
    const isCited = event.use === "cited";
    const text = `${isCited ? CITING : "Reading: "}${nameOf(site)}`;
    return [{ kind: "source", text, site, isSilent: isCited, once: `site ${siteKey(site)}` }];
  };
}

const nameOf = ({ title, domain }: { title: string; domain: string }): string =>
  domain === "" || title === domain ? title : `${title} (${domain})`;
