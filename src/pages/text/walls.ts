/** Tells a page from a wall, a missing page and a parked domain, by its length and the phrases at its beginning. */

import type { PageText, Wall } from "../page.ts";
import type { HtmlSignals } from "./html-text.ts";

export interface WallContext {
  requestedUrl: string;
  finalUrl: string;
}

export type NoPage = { outcome: "unreadable"; wall: Wall } | { outcome: "gone"; reason: string };

/** A page with more text than this has something to read, whatever it offers at its beginning. */
const SHORT_CHARACTERS = 700;
/** An article behind a paywall shows its first paragraphs. */
const TEASER_CHARACTERS = 2_500;
/** Less text than this, and scripts: the text is made by the scripts. */
const EMPTY_CHARACTERS = 80;
const MAX_HEAD_BLOCKS = 12;

/** Characters of Japanese and Chinese count for two: they hold about twice as much. */
const lengthOf = (text: string): number => text.length + (text.match(/[\u3040-\u30FF\u4E00-\u9FFF]/g)?.length ?? 0);

/** A quoted phrase is mentioned rather than shown as a wall, unless it is the label of something to click. */
const QUOTATION =
  /(?<!\b(?:click|on|select|choose|tap|press|check|box|auf|sur)\s)(?:“[^“”]{1,200}”|„[^„“]{1,200}“|«[^«»]{1,200}»|「[^「」]{1,200}」|"[^"\n]{1,200}")/giu;

const unquoted = (text: string): string => text.replaceAll(QUOTATION, "");

export function noPageIn(page: PageText, signals: HtmlSignals, context?: WallContext): NoPage | undefined {
  const body = page.blocks.join("\n").slice(0, 10 * TEASER_CHARACTERS);
  const length = lengthOf(body);
  const head = [page.title, ...page.blocks.slice(0, 2)].join("\n").slice(0, 600);
  const start = [page.title, ...page.blocks.slice(0, MAX_HEAD_BLOCKS)].join("\n").slice(0, 2_000);
  if (length < EMPTY_CHARACTERS) {
    if (signals.scripts > 0 && !isNotFound(page, head)) return wall("script_only");
    if (length === 0) return wall("format");
  }
  if (length < SHORT_CHARACTERS) {
    const found = shortPage({ page, head, start, signals });
    if (found !== undefined) return found;
  }
  if (length < TEASER_CHARACTERS && (signals.isFree === false || offersSubscription(page))) {
    if (signals.isFree === false || length < TEASER_CHARACTERS / 2) return wall("paywall");
  }
  return context !== undefined && isHomeInstead(context)
    ? { outcome: "gone", reason: "The address leads to the site's home page." }
    : undefined;
}

/** An offer is a line of its own, or what a teaser ends with; within a paragraph it is what the article is about. */
const OFFER_CHARACTERS = 250;

const offersSubscription = ({ title, blocks }: PageText): boolean =>
  [title, ...blocks].some((block) => {
    const said = unquoted(block);
    return PAYWALL.test(said.length <= OFFER_CHARACTERS ? said : said.slice(-OFFER_CHARACTERS / 2));
  });

const wall = (name: Wall): NoPage => ({ outcome: "unreadable", wall: name });

interface ShortPage {
  page: PageText;
  head: string;
  start: string;
  signals: HtmlSignals;
}

function shortPage({ page, head, start, signals }: ShortPage): NoPage | undefined {
  if (PARKED.test(start)) return { outcome: "gone", reason: "The domain is parked or for sale." };
  if (CAPTCHA.test(head)) return wall("captcha");
  if (NEEDS_SCRIPT.test(start) && lengthOf(start) < SHORT_CHARACTERS / 2) return wall("script_only");
  if (isNotFound(page, head)) return { outcome: "gone", reason: "The site says that the page does not exist." };
  if (CONSENT.test(head)) return wall("consent");
  if (signals.isFree === false || offersSubscription(page)) return wall("paywall");
  if (signals.hasPasswordField || LOGIN.test(page.title)) return wall("login");
  return LOGIN.test(unquoted(head)) && page.blocks.length < 6 ? wall("login") : undefined;
}

/** In the title or the first heading; a question or an explanation there is an article about missing pages. */
function isNotFound(page: PageText, head: string): boolean {
  const lines = [page.title, page.blocks[0] ?? ""].filter((line) => line.length < 120);
  const isAbout = lines.some((line) => /\?\s*$|\b(?:what|how|why|guide|was ist|wie|pourquoi|comment)\b/i.test(line));
  return !isAbout && (lines.some((line) => NOT_FOUND.test(line)) || (/^oops/im.test(head) && NOT_FOUND.test(head)));
}

/** Many sites answer for a page that is gone with a redirect to their home page. */
function isHomeInstead({ requestedUrl, finalUrl }: WallContext): boolean {
  if (!URL.canParse(requestedUrl) || !URL.canParse(finalUrl)) return false;
  const requested = new URL(requestedUrl);
  const final = new URL(finalUrl);
  const bare = ({ hostname }: URL): string => hostname.replace(/^(?:www|m)\./, "");
  const isHome = ({ pathname, search }: URL): boolean =>
    /^\/(?:[a-z]{2}(?:-[a-z]{2})?\/?)?(?:(?:index|home|default)(?:\.\w+)?)?$/i.test(pathname) && search === "";
  return bare(requested) === bare(final) && isHome(final) && !isHome(requested);
}

// Phrases of walls, missing pages and parked domains in English, German, French and Japanese.

const NOT_FOUND =
  /\b404\b|(?:page|article|story|content|document)\b.{0,40}(?:not (?:be )?found|no longer (?:available|exists?)|does(?: not|n['’]t) exist|has been (?:removed|deleted))|not found|(?:can(?:no|['’])t|could(?: not|n['’]t)) find (?:that|the|this) (?:page|article)|seite .{0,30}nicht (?:gefunden|vorhanden|verfügbar)|nicht gefunden|existiert nicht(?: mehr)?|page (?:introuvable|non trouvée)|n['’]existe (?:pas|plus)|introuvable|ページ(?:が|は)(?:見つかりません|存在しません)|お探しのページ|見つかりませんでした/i;

const PARKED =
  /(?:domain|\.[a-z]{2,10}) (?:name )?(?:is|may be|might be|could be) (?:for sale|available for purchase)|buy this domain|this domain (?:is|has been) (?:parked|registered|expired)|domain (?:steht|ist) zum verkauf|diese domain (?:kaufen|steht)|domaine (?:est )?à vendre|ce domaine est (?:à vendre|en vente)|このドメインは.{0,20}(?:販売|売り出し|取得)|sedoparking|parkingcrew/i;

const CAPTCHA =
  /just a moment\b|attention required|checking (?:if the site connection|your browser)|verif(?:y|ying) (?:that )?you are (?:a )?human|are you (?:a )?(?:robot|human)|not a robot|unusual traffic|security check|captcha|ddos protection|access (?:to this page has been )?denied|pardon our interruption|bist du ein mensch|sind sie ein (?:mensch|roboter)|kein roboter|êtes[- ]vous (?:un )?(?:humain|robot)|pas un robot|ロボットではありません|アクセスが拒否/i;

const CONSENT =
  /before you continue|we (?:and our (?:\d+ )?partners|value your privacy)|(?:accept|allow) all(?: cookies)?\b|consent to (?:the use of )?cookies|mit werbung weiterlesen|bevor (?:sie|du) fortf|(?:wir und unsere (?:\d+ )?partner)|cookies? (?:akzeptieren|zustimmen)|alle akzeptieren|avant de continuer|nous et nos (?:\d+ )?partenaires|tout accepter|accepter (?:les|et)|クッキー.{0,20}同意|cookie.{0,20}同意|すべて(?:同意|許可)/i;

const LOGIN =
  /(?:log|sign) ?in(?: or (?:sign up|register|join))?\b.{0,30}(?:to (?:view|see|continue|read|access)|$)|(?:log|sign) in\b|create (?:an|your) account|join to (?:see|view|read)|(?:must|need to) (?:be logged|log|sign) in|members? only|anmelden|einloggen|jetzt registrieren|melde dich an|se connecter|connexion|connectez-vous|créer un compte|identifiez-vous|ログイン|会員登録|サインイン/i;

const PAYWALL =
  /subscri(?:be|ption)\b.{0,60}(?:to (?:continue|read|unlock|keep)|now|today|required)|continue reading with|(?:for|to) subscribers(?: only)?|already a subscriber|subscriber[- ]only|unlock (?:this|the full) (?:article|story)|you(?:['’]ve| have) (?:reached|read) (?:your|all)|free articles?|nur für abonnent|bereits abonnent|jetzt weiterlesen|weiterlesen mit|mit (?:plus|abo)\b|exklusiv für abonnent|réservé aux abonnés|abonnez-vous|déjà abonné|pour lire la suite|article réservé|有料(?:会員|記事)|会員限定|この記事は(?:有料|会員)|続きを読むには|購読/i;

const NEEDS_SCRIPT =
  /(?:enable|activate|requires?|turn on|need)\b.{0,40}javascript|javascript\b.{0,60}(?:enable|disabled|required|aktivier|deaktiviert|benötigt|activer|désactivé|requis|有効|無効)|javascript (?:aktivieren|einschalten)|activ(?:er|ez) javascript/i;
