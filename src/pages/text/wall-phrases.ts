/** Phrases of walls, missing pages and parked domains in English, German, French and Japanese. */

export const NOT_FOUND =
  /\b404\b|(?:page|article|story|content|document)\b.{0,40}(?:not (?:be )?found|no longer (?:available|exists?)|does(?: not|n['’]t) exist|has been (?:removed|deleted))|not found|(?:can(?:no|['’])t|could(?: not|n['’]t)) find (?:that|the|this) (?:page|article)|seite .{0,30}nicht (?:gefunden|vorhanden|verfügbar)|nicht gefunden|existiert nicht(?: mehr)?|page (?:introuvable|non trouvée)|n['’]existe (?:pas|plus)|introuvable|ページ(?:が|は)(?:見つかりません|存在しません)|お探しのページ|見つかりませんでした/i;

export const PARKED =
  /(?:domain|\.[a-z]{2,10}) (?:name )?(?:is|may be|might be|could be) (?:for sale|available for purchase)|buy this domain|this domain (?:is|has been) (?:parked|registered|expired)|domain (?:steht|ist) zum verkauf|diese domain (?:kaufen|steht)|domaine (?:est )?à vendre|ce domaine est (?:à vendre|en vente)|このドメインは.{0,20}(?:販売|売り出し|取得)|sedoparking|parkingcrew/i;

export const CAPTCHA =
  /just a moment\b|attention required|checking (?:if the site connection|your browser)|verif(?:y|ying) (?:that )?you are (?:a )?human|are you (?:a )?(?:robot|human)|not a robot|unusual traffic|security check|captcha|ddos protection|access (?:to this page has been )?denied|pardon our interruption|bist du ein mensch|sind sie ein (?:mensch|roboter)|kein roboter|êtes[- ]vous (?:un )?(?:humain|robot)|pas un robot|ロボットではありません|アクセスが拒否/i;

export const CONSENT =
  /before you continue|we (?:and our (?:\d+ )?partners|value your privacy)|(?:accept|allow) all(?: cookies)?\b|consent to (?:the use of )?cookies|mit werbung weiterlesen|bevor (?:sie|du) fortf|(?:wir und unsere (?:\d+ )?partner)|cookies? (?:akzeptieren|zustimmen)|alle akzeptieren|avant de continuer|nous et nos (?:\d+ )?partenaires|tout accepter|accepter (?:les|et)|クッキー.{0,20}同意|cookie.{0,20}同意|すべて(?:同意|許可)/i;

export const LOGIN =
  /(?:log|sign) ?in(?: or (?:sign up|register|join))?\b.{0,30}(?:to (?:view|see|continue|read|access)|$)|(?:log|sign) in\b|create (?:an|your) account|join to (?:see|view|read)|(?:must|need to) (?:be logged|log|sign) in|members? only|anmelden|einloggen|jetzt registrieren|melde dich an|se connecter|connexion|connectez-vous|créer un compte|identifiez-vous|ログイン|会員登録|サインイン/i;

export const PAYWALL =
  /subscri(?:be|ption)\b.{0,60}(?:to (?:continue|read|unlock|keep)|now|today|required)|continue reading with|(?:for|to) subscribers(?: only)?|already a subscriber|subscriber[- ]only|unlock (?:this|the full) (?:article|story)|you(?:['’]ve| have) (?:reached|read) (?:your|all)|free articles?|nur für abonnent|bereits abonnent|jetzt weiterlesen|weiterlesen mit|mit (?:plus|abo)\b|exklusiv für abonnent|réservé aux abonnés|abonnez-vous|déjà abonné|pour lire la suite|article réservé|有料(?:会員|記事)|会員限定|この記事は(?:有料|会員)|続きを読むには|購読/i;

export const NEEDS_SCRIPT =
  /(?:enable|activate|requires?|turn on|need)\b.{0,40}javascript|javascript\b.{0,60}(?:enable|disabled|required|aktivier|deaktiviert|benötigt|activer|désactivé|requis|有効|無効)|javascript (?:aktivieren|einschalten)|activ(?:er|ez) javascript/i;
