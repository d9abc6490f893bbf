/** The report of the demo: invented, but shaped like a good one. All sources are on reserved domains. */

export const DEMO_SOURCES: { url: string; title: string }[] = [
  { url: "https://nordic-energy.example/heat-pumps/field-trial-2025", title: "Field trial in 412 homes, final report" },
  { url: "https://coldclimate.example.org/monitoring/minnesota", title: "Two winters of monitoring in Minnesota" },
  { url: "https://buildings-lab.example/papers/low-temperature-cop", title: "Measured COP from +10 to −28 °C" },
  { url: "https://statistics.example/energy/prices-2026", title: "Household energy prices, first half of 2026" },
  { url: "https://standards.example.net/spf-boundaries", title: "System boundaries of seasonal performance" },
  { url: "https://installers.example/surveys/sizing", title: "Sizing practice: a survey of 1,100 installations" },
  { url: "https://consumer-review.example.org/heat-pumps/owners", title: "Owners after their second winter" },
  { url: "https://grid-operator.example/reports/winter-peak", title: "Winter peak and electric heating" },
];

export const DEMO_REPORT = `# How well do air-source heat pumps work in cold climates?

*Simulated by gemini-search-mcp: the sources and figures are invented.*

## Executive summary

Modern air-source heat pumps heat homes reliably and efficiently in cold climates, **including at −20 °C, if they are sized for it**. Measured over whole winters in occupied homes, they delivered 2.4 to 3.1 units of heat per unit of electricity [cite: 1, 2]. Efficiency falls with temperature but stays above that of electric resistance heating down to about −28 °C [cite: 3].

Three conditions decide whether a particular home does as well:

1. **Sizing.** Systems that cover at least 80 % of the design load used their backup heater for 4 % of the heat; undersized ones for 19 % [cite: 1, 6].
2. **Supply temperature.** Every 5 °C that the radiators need less adds about 0.3 to the seasonal factor [cite: 3].
3. **Energy prices.** A heat pump is cheaper to run than gas where electricity costs less than about 2.9 times as much per kWh [cite: 4].

## Efficiency by outdoor temperature

Laboratory values and field values agree within 10 % as long as the same system boundary is used [cite: 3, 5]. The table shows field medians.

| Outdoor temperature | Median COP | Middle half of homes | Backup heat | Homes |
| ---: | ---: | :---: | ---: | ---: |
| +7 °C | 3.9 | 3.6 – 4.3 | 0 % | 412 |
| 0 °C | 3.2 | 2.9 – 3.5 | 0 % | 412 |
| −7 °C | 2.7 | 2.4 – 3.0 | 1 % | 409 |
| −15 °C | 2.2 | 1.9 – 2.4 | 5 % | 371 |
| −20 °C | 1.9 | 1.7 – 2.1 | 11 % | 238 |
| −28 °C | 1.4 | 1.2 – 1.6 | 34 % | 57 |

Below −20 °C the sample is small and comes mostly from one study [cite: 1], so the last row should be read as an indication.

## Why published figures differ

Two large surveys seem to contradict each other: one reports a seasonal factor of **3.1**, the other **2.4** [cite: 1, 2]. The difference is one of accounting. The first measures the heat pump alone; the second adds circulation pumps and the backup heater to the input [cite: 5]. With the same boundary they differ by 0.2, which the milder winter of the first explains.

> When you compare offers, ask for the seasonal factor *including* the backup heater. It is the number that appears on your bill.

## Capacity in the coldest week

- In the coldest week on record (−24 °C on average), 96 % of monitored homes held 20 °C or more [cite: 2].
- All homes below that had systems sized for less than 65 % of the design load [cite: 2, 6].
- Defrosting took 3 to 7 % of the heat, most of it between −2 and +2 °C in humid air and not in deep cold [cite: 3].

## Cost

Running cost follows from one ratio: the price of electricity divided by the price of gas. With a gas boiler of 92 % efficiency, the break-even seasonal factor is \`ratio × 0.92\`.

| Tariff (2026) | Electricity : gas | Break-even factor | Cheaper to run at 2.7? |
| --- | ---: | ---: | --- |
| Heat pump tariff | 2.1 | 1.9 | Yes, by 28 % |
| Standard tariff | 2.9 | 2.7 | About equal |
| Standard tariff, region with low gas prices | 3.6 | 3.3 | No, 23 % more |

Prices are from the first half of 2026 [cite: 4]. Installation costs vary by a factor of two and were not comparable between studies.

## What is disputed

- **Grid load.** The grid operator expects an 11 % higher winter peak if a third of homes switch [cite: 8]; others argue that insulation programmes would offset half of it. Neither study has been reproduced.
- **Satisfaction.** 87 % of owners would choose a heat pump again after two winters. Of those who would not, most name noise and installers rather than heat [cite: 7].

## What to do

1. Have the heat load of the home calculated instead of copying the size of the old boiler.
2. Aim for a supply temperature of 45 °C or less; often two or three larger radiators are enough.
3. Choose a model with published capacity at −20 °C, not only at −7 °C.
4. Keep a small backup heater for the rare days below the design temperature.

## Confidence

| Finding | Confidence | Rests on |
| --- | --- | --- |
| Efficient down to −20 °C | High | three independent field studies |
| Sizing matters most | High | two field studies, one survey |
| Values below −25 °C | Low | one study, 57 homes |
| Cheaper than gas | Depends on prices | one price survey |`;
