/** The report of every scene: short, with each form that Google writes and the product has to show. */

export const SOURCES = [
  { url: "https://energy.example.org/field-study", title: "A field study" },
  { url: "https://www.example.com/norway?a=1&b=2", title: "Norway | figures" },
  { url: "https://example.net/critique", title: "A critique" },
];

export const REPORT = `# Heat pumps in cold climates

**In short:** they work below −20 °C [cite: 1], but less efficiently [cite: 1, 2].

## Executive summary

A *field study* of 24 houses found a seasonal factor of 2.6 [cite: 1]. Norway has 1.6 million of them [cite: 2];
see [the association](https://example.com/association) and \`COP = Q / W\`.

- Air to air: cheap, noisy [cite: 3]
- Air to water: dearer
  1. with a buffer [cite: 2, 3]
  2. without one

## Figures at a glance

| Temperature | Factor [cite: 1] |
| --- | ---: |
| **+7 °C**[cite: 2] | 4.1 |
| −15 °C \\| dry | 2.2 [cite: 3] |

### Formula

$$COP = \\frac{Q}{W}$$

> “Nobody should expect miracles”, as one critic writes [cite: 3].

## Disputed points

The sources disagree on these points [cite: 1]: defrosting & noise, <b>not</b> the price of 1 < 2 kW.

\`\`\`python
print("unchanged [cite: 1]")
\`\`\``;

export const COURSE = [
  { thought: "**Taking stock**\n\nI begin with what is undisputed.", queries: ["heat pump cold climate"] },
  {
    thought: "**Looking for figures**\n\nI look for primary statistics.",
    queries: ["COP −15 °C", "Norway heat pumps"],
  },
  { thought: "**Checking a contradiction**\n\nTwo pages disagree.", queries: ["heat pump critique"] },
];
