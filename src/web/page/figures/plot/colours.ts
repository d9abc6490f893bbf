/** Resolves the page's colours for a canvas, which does not support custom properties, and reports their changes. */

const NAMES = {
  text: "--text",
  quiet: "--text-quiet",
  line: "--line",
  accent: "--accent",
  warn: "--warn",
  good: "--good",
  bad: "--bad",
  ground: "--raised",
} as const;

export type PlotColours = Record<keyof typeof NAMES, string>;

/** Read from a real element, because only there the browser resolves light, dark and forced colours. */
export function plotColours(container: HTMLElement): PlotColours {
  const probe = document.createElement("span");
  // With reduced motion every transition takes an instant, within which the previous colour would be read.
  probe.style.setProperty("transition", "none", "important");
  container.append(probe);
  const read = (name: keyof typeof NAMES): string => {
    const style = getComputedStyle(probe);
    probe.style.color = `var(${NAMES[name]})`;
    probe.style.backgroundColor = `var(${NAMES[name]})`;
    // Forced colours differ between text and background.
    return name === "ground" ? style.backgroundColor : style.color;
  };
  const colours: PlotColours = {
    text: read("text"),
    quiet: read("quiet"),
    line: read("line"),
    accent: read("accent"),
    warn: read("warn"),
    good: read("good"),
    bad: read("bad"),
    ground: read("ground"),
  };
  probe.remove();
  return colours;
}

export function onColoursChange(changed: () => void): () => void {
  const media = [matchMedia("(prefers-color-scheme: dark)"), matchMedia("(forced-colors: active)")];
  for (const query of media) query.addEventListener("change", changed);
  const chosen = new MutationObserver(changed);
  chosen.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  return () => {
    for (const query of media) query.removeEventListener("change", changed);
    chosen.disconnect();
  };
}
