/** The page's colours for a canvas, which knows nothing of custom properties, and when they change. */

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

/** Asked of a real element: only there the browser decides between light, dark, and the colours a user forces. */
export function plotColours(place: HTMLElement): PlotColours {
  const probe = document.createElement("span");
  // Where motion is reduced every change takes an instant, and read within it a colour is still the one before.
  probe.style.setProperty("transition", "none", "important");
  place.append(probe);
  const read = (name: keyof typeof NAMES): string => {
    const style = getComputedStyle(probe);
    probe.style.color = `var(${NAMES[name]})`;
    probe.style.backgroundColor = `var(${NAMES[name]})`;
    // Forced colours differ by whether something is letters or ground.
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
