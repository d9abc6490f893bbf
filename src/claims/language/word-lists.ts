/** Closed word classes of the languages whose sentences are compared. Words are in lower case. */

export type Language = "en" | "de" | "fr" | "ja";

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/).filter((word) => word !== ""));

interface WordLists {
  /** Words without a meaning of their own: they need not occur on the page. */
  stop: ReadonlySet<string>;
  prepositions: ReadonlySet<string>;
  negations: ReadonlySet<string>;
  /** Possibility: the page must not be less certain than the claim. */
  possible: ReadonlySet<string>;
  /** Future, plan, wish or duty: the page does not report a fact. */
  planned: ReadonlySet<string>;
  /** What a page says of a statement that it does not make itself, or only under a condition. */
  unreal: ReadonlySet<string>;
  /** A figure or state that no longer holds. */
  superseded: ReadonlySet<string>;
  /** Words that change how much a statement covers: they must occur on both sides. */
  scope: ReadonlySet<string>;
  conjunctions: ReadonlySet<string>;
  pronouns: ReadonlySet<string>;
  relatives: ReadonlySet<string>;
}

const EN: WordLists = {
  stop: words(`a an the this that these those it its he she they we you i his her their our your my him them us me
    is are was were be been being am do does did has have had having also too as so such there here than then and or but
    which who whom whose where when while although though because since if whether both either neither s t own very
    more most less per each`),
  prepositions: words(`of in on at by to from for with about against between among into onto over under above below
    after before during through across within per than via toward towards around behind beyond near off since until till
    upon versus vs along despite besides inside outside amid unlike except following including according due`),
  negations: words(`not no never none nor neither nothing nowhere without cannot hardly scarcely barely isn't
    aren't wasn't weren't don't doesn't didn't hasn't haven't hadn't won't wouldn't can't couldn't shouldn't mustn't`),
  possible: words(`may might could can possibly perhaps maybe likely unlikely probably potentially apparently
    reportedly allegedly presumably seemingly suggests suggest seems appears`),
  planned: words(`will would shall should must plan plans planned planning expects expect expected expecting aims aim
    aimed intends intend intended hopes hope hoped wants want wanted proposes propose proposed proposal forecast forecasts
    projected projects scheduled considering considers target targets targeted due slated set goal estimate estimated
    promises promised pledged pledge agreed`),
  unreal: words(`if whether unless unknown unclear disputed denied denies deny rejected rejects refused refuses false
    wrong incorrect myth rumour rumours rumor rumors alleged claims claimed claim critics doubt doubts hypothetical
    contrary supposedly fails failed fail would-be unlikely`),
  superseded: words(`initially originally previously formerly earlier former once used until had corrected revised
    retracted withdrawn outdated predecessor old prior`),
  scope: words(`all every each most some many few several any only solely exclusively mainly mostly partly both half
    always often sometimes rarely usually never first last second third largest biggest smallest highest lowest longest
    shortest oldest youngest best worst more less fewer least fastest slowest largest entire whole
    total except excluding alone unanimous unanimously almost nearly about around approximately roughly exactly`),
  conjunctions: words(`and but or while whereas although though because so yet`),
  pronouns: words(`it he she they this these the its his her their`),
  relatives: words(`which who whom whose that where when`),
};

const DE: WordLists = {
  stop: words(`der die das den dem des ein eine einen einem einer eines dies diese dieser dieses diesem diesen jene er
    sie es wir ihr ihre ihren ihrem ihrer sein seine seinen seinem seiner sich ist sind war waren sei seien wurde wurden
    worden werden hat haben auch so als wie und oder aber denn dass da dort hier dann welche welcher welches wo
    zusammen je`),
  prepositions: words(`in im ins an am ans auf aus bei beim bis durch für gegen mit nach ohne seit über um unter von vom
    vor zu zum zur zwischen während wegen trotz neben hinter pro ab je laut gegenüber innerhalb außerhalb statt aufgrund dank`),
  negations: words(`nicht kein keine keinen keinem keiner keines nie niemals nichts niemand weder noch ohne kaum`),
  possible: words(`könnte könnten kann können möglicherweise vielleicht wohl vermutlich wahrscheinlich angeblich dürfte
    dürften mag mögen offenbar scheint`),
  planned: words(`wird will wollen soll sollen sollte sollten muss müssen plant planen geplant geplante rechnet rechnen
    rechne erwartet erwarten hofft hoffen voraussichtlich vorgesehen beabsichtigt prognose prüft geprüft ziel angestrebt
    vorgeschlagen würde würden`),
  unreal:
    words(`wenn falls ob sofern bestritt bestreitet dementierte abgelehnt falsch gerücht angeblich unbekannt unklar
    behauptet behaupten kritiker`),
  superseded: words(`zunächst ursprünglich früher frühere ehemals ehemalige bisher bislang vormals hatte hatten
    korrigiert berichtigt zurückgezogen einst`),
  scope: words(`alle alles jede jeder jedes meisten meist einige manche viele wenige mehrere nur allein ausschließlich
    teilweise beide hälfte immer oft manchmal selten erste ersten erster letzte letzten größte größten kleinste höchste
    höchsten niedrigste längste mehr weniger ganze gesamte insgesamt außer etwa rund ungefähr knapp fast genau`),
  conjunctions: words(`und aber oder während obwohl sondern denn doch sowie`),
  pronouns: words(`er sie es dies diese dieser das der die`),
  relatives: words(`der die das dessen deren welche welcher welches wo`),
};

const FR: WordLists = {
  stop: words(`le la les l un une des du de d ce cet cette ces il elle ils elles on nous vous se s son sa ses leur leurs
    est sont était étaient été être a ont avait avaient ayant y en qui que qu dont où et ou mais donc aussi comme si
    plus très c j n même`),
  prepositions:
    words(`de du des d à au aux en dans par pour sur sous avec sans contre entre depuis vers chez après avant
    pendant durant selon dès jusque jusqu hors malgré parmi grâce lors outre`),
  negations: words(`ne n pas jamais aucun aucune rien personne ni sans non guère`),
  possible: words(`pourrait pourraient peut peuvent peut-être probablement sans-doute semble semblent éventuellement
    apparemment`),
  planned: words(`va vont doit doivent devrait devraient prévoit prévoient prévu prévue prévus prévues espère espèrent
    veut veulent compte envisage envisagent projet projette sera seront objectif attendu attendue attend attendent
    prévision propose`),
  unreal: words(`si inconnu dément démenti rejeté faux rumeur prétendument affirme prétend critiques`),
  superseded:
    words(`initialement auparavant anciennement ancien ancienne jadis précédemment avait avaient corrigé révisé
    retiré autrefois`),
  scope:
    words(`tous toutes tout toute chaque plupart quelques certains certaines plusieurs seul seule seulement uniquement
    exclusivement surtout partiellement deux moitié toujours souvent parfois rarement premier première dernier dernière
    plus moins meilleur pire entier sauf environ presque près exactement total`),
  conjunctions: words(`et mais ou tandis alors car donc quoique`),
  pronouns: words(`il elle ils elles ce cela celui celle`),
  relatives: words(`qui que qu dont où lequel laquelle`),
};

const NONE: ReadonlySet<string> = new Set();

/** In Japanese these are parts of words; `japanese.ts` looks for them in the text. */
const JA: WordLists = {
  stop: NONE,
  prepositions: NONE,
  negations: NONE,
  possible: NONE,
  planned: NONE,
  unreal: NONE,
  superseded: NONE,
  scope: NONE,
  conjunctions: NONE,
  pronouns: NONE,
  relatives: NONE,
};

export const WORD_LISTS: Readonly<Record<Language, WordLists>> = { en: EN, de: DE, fr: FR, ja: JA };
