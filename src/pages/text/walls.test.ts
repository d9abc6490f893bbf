/** Walls, missing pages and parked domains are distinguished from pages that resemble them. */

import { expect, test } from "vitest";
import { readHtml } from "./read-html.ts";

const page = (title: string, body: string, head = ""): string =>
  `<!doctype html><html><head><title>${title}</title>${head}</head><body><nav><a href=/>Home</a></nav>${body}<footer>About · Contact</footer></body></html>`;
const article = (sentences: number): string =>
  "<p>The council voted on Tuesday to build the new line to the harbour, at a cost of 40 million.</p>".repeat(
    sentences,
  );

const outcomeOf = (html: string, finalUrl = "https://www.site-a.org/a/b"): string => {
  const content = readHtml(html, { requestedUrl: "https://site-a.org/a/b", finalUrl });
  return content.outcome === "unreadable" ? content.wall : content.outcome;
};

test("walls are recognised in four languages (W9)", () => {
  const notFree = `<script type="application/ld+json">{"isAccessibleForFree": false}</script>`;
  const walls: [string, string][] = [
    [
      "paywall",
      page("Budget", `<h1>Budget</h1>${article(2)}<p>Subscribe to continue reading. Already a subscriber? Log in.`),
    ],
    ["paywall", page("Haushalt", `<h1>Haushalt</h1>${article(1)}<p>Dieser Artikel ist nur für Abonnenten.`)],
    ["paywall", page("Budget", `<h1>Le budget</h1>${article(1)}<p>Cet article est réservé aux abonnés. Déjà abonné ?`)],
    ["paywall", page("予算", `<h1>予算</h1><p>市議会は予算を可決した。</p><p>この記事は有料会員限定です。`)],
    ["paywall", page("Budget", article(12), notFree)],
    ["login", page("Log in or sign up to view", `<form><input type=password><button>Sign in</button></form>`)],
    [
      "login",
      page("Anmelden", `<h1>Willkommen zurück</h1><form><input><input type="password"></form><p>Noch kein Konto?`),
    ],
    ["login", page("ログイン", `<form><input type=password></form><p>会員の方はこちら`)],
    ["consent", page("Welcome", `<p>By clicking “Accept all cookies” you agree to our use of cookies.`)],
    ["captcha", page("One moment", `<p>Please check the box "I'm not a robot" below.`)],
    ["login", page("Members", `<p>Click on "Log in to continue" at the top of the page.`)],
    [
      "consent",
      page("Before you continue", `<p>We and our 842 partners store information. <button>Accept all</button>`),
    ],
    ["consent", page("Cookies", `<h1>Bevor Sie fortfahren</h1><p>Wir und unsere 120 Partner verwenden Cookies.`)],
    ["captcha", page("Just a moment...", `<h1>Checking your browser before accessing the site</h1>`)],
    ["captcha", page("Attention Required! | Cloudflare", `<h1>Sorry, you have been blocked</h1>`)],
    ["captcha", page("Êtes-vous un robot ?", `<p>Cochez la case pour continuer.`)],
    [
      "script_only",
      page(
        "Dashboard",
        `<div id=root></div><noscript>You need to enable JavaScript.</noscript><script src=a.js></script>`,
      ),
    ],
    ["script_only", page("App", `<p>Please enable JavaScript to view this page.</p>`)],
    ["format", page("", "").replace(/<footer>.*<\/footer>/, "")],
  ];
  expect(walls.map(([, html]) => outcomeOf(html))).toEqual(walls.map(([wall]) => wall));
});

test("soft 404s, parked domains and redirects to the home page are gone (W9)", () => {
  const gone = [
    page("Page not found", `<h1>Oops! We can't find that page</h1><p>It may have been moved.`),
    page("Erreur 404", `<h1>Page introuvable</h1><p>La page que vous recherchez n'existe pas.`),
    page("Seite nicht gefunden", `<h1>Die Seite wurde nicht gefunden</h1>`),
    page("お探しのページが見つかりません", `<p>URLをご確認ください。`),
    page("This article is no longer available", `<p>Search our archive.`),
    page("brightwater.com", `<h1>brightwater.com is for sale</h1><p>This domain may be for sale.`),
    page("kauf.de", `<p>Diese Domain steht zum Verkauf.`),
  ];
  expect(gone.map((html) => outcomeOf(html))).toEqual(gone.map(() => "gone"));
  expect(outcomeOf(page("News", article(20)), "https://www.site-a.org/")).toBe("gone");
  expect(outcomeOf(page("News", article(20)), "https://www.site-a.org/en/")).toBe("gone");
});

test("pages about walls, short pages and pages with a login form are read (W9)", () => {
  const pages = [
    page(
      "What is a soft 404?",
      `<h1>What is a soft 404?</h1><p>A page that says “Page not found” with the status 200.</p>${article(3)}`,
    ),
    page(
      "Opening hours",
      `<h1>Opening hours</h1><p>Tuesday to Sunday, 10 am to 6 pm. The museum is closed on Mondays.`,
    ),
    page(
      "News",
      `${article(15)}<form><input type=password><button>Log in</button></form><p>Subscribe to our newsletter now.`,
    ),
    page(
      "Why sites ask for cookies",
      `<h1>Why sites ask for cookies</h1>${article(10)}<p>“Accept all” is the largest button.`,
    ),
    page(
      "Paywalls of local papers",
      `<h1>Paywalls of local papers</h1><p>“Subscribe to continue reading” is what most visitors see. “Already a subscriber? Log in” was clicked by one in a hundred.</p>${article(2)}`,
    ),
    page(
      "Do paywalls pay?",
      `<h1>Do paywalls pay?</h1><p>We asked sixty papers for a year, in cities and in the country, and compared their visitors and their revenue before and after. The papers that let readers see a fixed number of free articles each month lost fewer visitors than those with a hard wall, and gained more subscribers than expected by their publishers.`,
    ),
    page("Highway 404 reopens", `<h1>Highway 404 reopens</h1>${article(10)}`),
    page(
      "料理教室",
      `<h1>料理教室のご案内</h1><p>毎週土曜日に公民館で料理教室を開きます。参加費は1500円で、定員は20人です。申し込みは電話で受け付けます。`,
    ),
    page("Free article", article(40), `<script type="application/ld+json">{"isAccessibleForFree": "True"}</script>`),
  ];
  expect(pages.map((html) => outcomeOf(html))).toEqual(pages.map(() => "text"));
  const other = readHtml(page("Home", article(20)), {
    requestedUrl: "https://short.site-b.org/x",
    finalUrl: "https://www.site-a.org/",
  });
  expect(other.outcome).toBe("text");
});
