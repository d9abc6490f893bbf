/** The course of the demo's research: what the agent thinks and searches for, in the order of the report. */

export const DEMO_COURSE: { thought: string; queries: string[] }[] = [
  {
    thought:
      "**Framing the question**\n\n“Work” can mean three things: efficiency, capacity and cost. I will treat them separately and ask for each whether it was measured in homes or in a laboratory.",
    queries: ["air-source heat pump field study cold climate COP", "heat pump efficiency below -15 °C measured homes"],
  },
  {
    thought:
      "**Looking for field measurements**\n\nManufacturers quote laboratory values. I am looking for studies with loggers in occupied homes, over at least one full winter.",
    queries: [
      "heat pump field trial Nordic homes seasonal performance factor",
      "heat pump monitoring results winter 2024 2025",
      "Minnesota cold climate heat pump monitoring report",
    ],
  },
  {
    thought:
      "**Checking what happens at the extremes**\n\nAverages hide the coldest week. I need hourly values below −20 °C and the share of heat that came from the backup heater.",
    queries: ["heat pump backup heat share coldest week", "defrost cycles energy loss humid cold"],
  },
  {
    thought:
      "**Resolving a contradiction**\n\nOne survey reports a seasonal factor of 3.1, another 2.4. The second counts circulation pumps and the backup heater as input; the first does not. They agree once the boundary is the same.",
    queries: ["seasonal performance factor system boundary SPF H2 H4", "heat pump survey methodology circulation pump"],
  },
  {
    thought:
      "**Turning to cost**\n\nEfficiency alone does not settle cost: it depends on the ratio of electricity to gas price. I compute the break-even factor for three tariffs.",
    queries: ["electricity to gas price ratio heat pump break-even", "heat pump installation cost per kW 2026"],
  },
  {
    thought:
      "**Looking for disagreement**\n\nI have only found supportive studies so far. I search for failures, undersized systems and dissatisfied owners.",
    queries: ["heat pump cold climate problems undersized", "owner satisfaction survey heat pump second winter"],
  },
  {
    thought:
      "**Outlining the report**\n\nThe evidence is strong for efficiency, good for capacity and mixed for cost. I will lead with the answer and mark what rests on a single study.",
    queries: [],
  },
];
