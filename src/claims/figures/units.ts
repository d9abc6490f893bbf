/** Units and currencies: their names in four languages, and what one of them is in the base unit. */

const TABLE: Readonly<Record<string, readonly [names: string, factor: number]>> = {
  percent: ["% percent prozent パーセント pct", 1],
  points: [
    "percentage-points percentage-point prozentpunkte prozentpunkten prozentpunkt points-de-pourcentage point-de-pourcentage ポイント pp",
    1,
  ],
  "points*0.01": ["basis-points basis-point bps basispunkte basispunkten points-de-base", 0.01],
  USD: ["$ us$ usd dollar dollars us-dollar us-dollars american-dollars ドル", 1],
  EUR: ["€ eur euro euros ユーロ", 1],
  GBP: ["£ gbp pound pounds pound-sterling pounds-sterling british-pounds pfund ポンド", 1],
  JPY: ["¥ jpy yen japanese-yen 円", 1],
  CHF: ["chf franc francs franken sfr swiss-franc swiss-francs schweizer-franken francs-suisses", 1],
  SEK: ["sek krona kronor swedish-krona swedish-kronor swedish-crowns schwedische-kronen couronnes-suédoises", 1],
  krone: ["kroner krone crown crowns kronen", 1],
  NOK: ["nok norwegian-krone norwegian-kroner norwegian-crowns norwegische-kronen couronnes-norvégiennes", 1],
  DKK: ["dkk danish-krone danish-kroner danish-crowns dänische-kronen couronnes-danoises", 1],
  CZK: ["czk koruna korunas czech-crowns czech-korunas tschechische-kronen", 1],
  CAD: ["cad c$ ca$ canadian-dollar canadian-dollars kanadische-dollar dollars-canadiens カナダドル", 1],
  AUD: ["aud a$ au$ australian-dollar australian-dollars australische-dollar dollars-australiens 豪ドル", 1],
  NZD: ["nzd nz$ new-zealand-dollar new-zealand-dollars", 1],
  HKD: ["hkd hk$ hong-kong-dollar hong-kong-dollars", 1],
  SGD: ["sgd s$ singapore-dollar singapore-dollars", 1],
  TWD: ["twd nt$ taiwan-dollars taiwanese-dollars", 1],
  CNY: ["cny yuan renminbi rmb chinese-yuan 元", 1],
  INR: ["inr ₹ rupee rupees indian-rupee indian-rupees rupien roupies ルピー", 1],
  KRW: ["krw ₩ won korean-won south-korean-won ウォン", 1],
  PLN: ["pln zloty złoty zlotys", 1],
  HUF: ["huf forint forints", 1],
  RUB: ["rub ₽ rouble roubles ruble rubles rubel roubles", 1],
  UAH: ["uah ₴ hryvnia hryvnias", 1],
  BRL: ["brl r$ reais brazilian-real brazilian-reais", 1],
  MXN: ["mxn mexican-peso mexican-pesos", 1],
  ZAR: ["zar south-african-rand", 1],
  ILS: ["ils ₪ shekel shekels", 1],
  AED: ["aed emirati-dirham emirati-dirhams uae-dirham uae-dirhams", 1],
  SAR: ["sar saudi-riyal saudi-riyals", 1],
  NGN: ["ngn ₦ naira", 1],
  KES: ["kes kenyan-shilling kenyan-shillings", 1],
  THB: ["thb ฿ baht", 1],
  IDR: ["idr rupiah", 1],
  MYR: ["myr ringgit", 1],
  ct: ["cent cents ct centimes", 1],
  m: ["m metre metres meter meters metern mètre mètres メートル", 1],
  "m*1000": ["km kilometre kilometres kilometer kilometers kilometern kilomètre kilomètres キロ キロメートル", 1000],
  "m*0.01": ["cm centimetre centimetres centimeter centimeters zentimeter centimètres", 0.01],
  "m*0.001": ["mm millimetre millimetres millimeter millimeters millimètres", 0.001],
  "m*1609.344": ["mile miles meilen", 1609.344],
  "m*0.3048": ["foot feet ft", 0.3048],
  m2: [
    "m² m2 square-metre square-metres square-meter square-meters quadratmeter quadratmetern mètres-carrés 平方メートル",
    1,
  ],
  "m2*1e4": ["ha hectare hectares hektar ヘクタール", 10_000],
  "m2*4046.856": ["acre acres", 4046.856],
  "m2*1e6": [
    "km² km2 square-kilometre square-kilometres square-kilometer square-kilometers quadratkilometer kilomètres-carrés 平方キロメートル",
    1_000_000,
  ],
  m3: ["m³ m3 cubic-metre cubic-metres cubic-meter cubic-meters kubikmeter kubikmetern mètres-cubes 立方メートル", 1],
  "m3*1e9": ["km³ km3 cubic-kilometre cubic-kilometres cubic-kilometers kubikkilometer kilomètres-cubes", 1e9],
  kg: ["kg kilogram kilograms kilogramm kilo kilos キログラム", 1],
  "kg*1000": ["t tonne tonnes tonnen tons ton トン", 1000],
  "kg*0.001": ["g gram grams gramm grammes グラム", 0.001],
  "kg*1e-6": ["mg milligram milligrams milligramm", 0.000_001],
  litre: ["l litre litres liter liters litern リットル", 1],
  W: ["w watt watts ワット", 1],
  "W*1e3": ["kw kilowatt kilowatts キロワット", 1e3],
  "W*1e6": ["mw megawatt megawatts メガワット", 1e6],
  "W*1e9": ["gw gigawatt gigawatts ギガワット", 1e9],
  Wh: ["wh", 1],
  "Wh*1e3": ["kwh kilowattstunden kilowatt-hour kilowatt-hours キロワット時", 1e3],
  "Wh*1e6": ["mwh megawattstunden megawatt-hour megawatt-hours", 1e6],
  "Wh*1e9": ["gwh gigawatt-hour gigawatt-hours gigawattstunden", 1e9],
  "Wh*1e12": ["twh terawatt-hour terawatt-hours terawattstunden", 1e12],
  s: ["second seconds sekunde sekunden seconde secondes 秒", 1],
  "s*60": ["min minute minutes minuten 分", 60],
  "s*3600": ["h hour hours stunde stunden heure heures 時間", 3600],
  day: ["day days tag tage tagen jour jours 日間", 1],
  week: ["week weeks woche wochen semaine semaines 週間", 1],
  month: ["month months monat monate monaten mois か月 カ月", 1],
  year: ["year years jahr jahre jahren an ans année années 年間", 1],
  celsius: ["°c degrees-celsius grad-celsius 度", 1],
  lux: ["lux", 1],
  age: ["歳", 1],
  person: ["人 名", 1],
};

export const UNITS: Readonly<Record<string, readonly [base: string, factor: number]>> = Object.fromEntries(
  Object.entries(TABLE).flatMap(([base, [names, factor]]) =>
    names.split(" ").map((name) => [name, [base.split("*")[0] ?? base, factor] as const]),
  ),
);

export const UNIT_NAMES: readonly string[] = Object.keys(UNITS).toSorted((a, b) => b.length - a.length);

/** Signs that may also follow an amount. */
export const SYMBOLS = "[$€£¥₹₩₽₴₪₦฿]";

const PREFIXES = Object.keys(UNITS).filter((name) => name.endsWith("$") && name.length > 1);
const CODES = Object.keys(TABLE).filter((base) => /^[A-Z]{3}$/.test(base));

/** Currency signs and codes that precede an amount. */
export const SIGNS = String.raw`(?:(?:${PREFIXES.map((sign) => sign.replace("$", String.raw`\$`)).join("|")})|${SYMBOLS}|(?:${CODES.join("|")})\s?)`;
