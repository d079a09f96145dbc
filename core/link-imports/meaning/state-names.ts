import { plainText } from './plain-text.ts';
import { OFF_FLAGS, ON_FLAGS } from './status.ts';

/** Names of columns that say whether, until when, and how often a link redirects. */

/** What may precede the words of a name. {@link BEHIND} may follow them. */
const BEFORE = '^(?:is|has|was|been|in|link|shortlink|shorturl|url)*';
/** What else may precede the words of {@link OFF}: `soft_deleted`, `date_deleted`. */
const HOW =
  '(?:auto(?:matically)?|soft|hard|manually|temp(?:orarily)?|permanently|date|time|admin|system|user|owner|marked|as)*';
/** What may follow them: `disabled_by_admin`, `banned_reason`. */
const WHY =
  '(?:link|at|on|date|time|timestamp|utc|by|id|reason|since|until|for|due|to|as|admin|user|owner|system|moderator|moderation|staff|abuse|spam|flag|status|permanently|temporarily|automatically)*$';
const BEHIND = '(?:link|at|on|in|date|time|datetime|timestamp|utc|value)*$';

/** Tells whether the key of a column is one of these names. */
export type Names = { test(key: string): boolean };

function named(words: string, behind = BEHIND): Names {
  const form = new RegExp(`${BEFORE}(?:${words})${behind}`);
  return { test: (key) => form.test(plainText(key)) };
}

/** Names that mean off where they have a value that is not a no. Times count: `disabledAt`. */
export const OFF = named(`${HOW}(?:${OFF_FLAGS}|takendown|(?:turned|switched)off|abusive)`, WHY);
/** Commands that mean off where they have a yes: `delete_at` would be an end. */
export const TURNS_OFF = named(
  'disable|delete|ban|block|suspend|pause|deactivate|unpublish|revoke',
  '(?:link)?$',
);
export const EXPIRED = named('expired', '(?:link)?$');
/** Names whose negative value, such as `no`, means that the link is off. */
export const ON = named(ON_FLAGS, '(?:link|status|state|flag)*$');
export const STATUS = named('(?:post)?(?:status|state)', '(?:name|code|label|text|value)*$');
/** Names whose value may say that the link is off, or something unrelated. */
export const MAY_SAY_OFF = named(
  '(?:approval|moderation|review|publication|publish(?:ing)?|lifecycle|life|workflow|safety)(?:status|state|stage|phase|result|cycle)?|mode|phase|stage|condition|estado|estatus|stato|statut|etat|zustand|situacao|stan|статус|состояние|状态|状態|상태',
  '(?:name|code|label|text|value)*$',
);
export const ARCHIVED = named('archived');

const LIVE_STATE = '(?:live|open|online|published|active|available|availability|valid|validity|visible)';
/** What ends a link: `auto_delete_at`. */
const ENDS =
  '(?:deactivat|disabl|delet|remov|unpublish|clos|suspend|paus|revok|stop|terminat|expir|archiv|end)(?:e?s|e|ing|y|ation|ion)?';
export const EXPIRES = named(
  `expir(?:e|es|y|ing|ation)|expired(?:at|on|date|time)|(?:auto(?:matic(?:ally)?)?)?${ENDS}(?:at|on|after|date|time)+|(?:${LIVE_STATE})?(?:un)?(?:till?|til)` +
    `|${LIVE_STATE}(?:to|thru|through|end)|ends?|notafter|ttl|bis|gultigbis|ablaufdatum|hasta|jusqua|scadenza|vencimiento|caducidad|validade|verloopt|vervaldatum`,
);
export const STARTS = named(
  'starts?(?:at|on|date|time)|valid(?:since|from)|activ(?:e|ates?|ation)(?:at|on|from|date)|availablefrom',
);
/** The words for visits, of which a limit and its count may have any. */
export const COUNTED =
  '(?:clicks?|visits?|use[sd]?|usages?|views?|hits?|redirects?|redirections?|opens?|scans?)';
export const MOST = named(
  `(?:max(?:imum)?|allowed|permitted)(?:number|num|no)?(?:of)?${COUNTED}|${COUNTED}(?:limit|max|maximum|cap|quota|allowed|permitted|expir(?:y|ation|es?))|limits?(?:max)?${COUNTED}` +
    `|${ENDS}(?:at|after|on|by|in)?${COUNTED}`,
);
/** Names that mean one visit where they have a yes. */
export const ONCE = named(
  '(?:one|single)(?:time|use|click|visit|view|access|scan|shot)+|burnafter(?:read(?:ing)?|use)|selfdestruct(?:s|ing)?',
  '(?:only|link|url|use)*$',
);
export const VISITS = new RegExp(
  `^(?:total|current|number|num|no|of|times)*${COUNTED}(?:count(?:er)?|total|times|made|done|sofar)*$|^visitssummarytotal$`,
);
/** Names that say how many visits are left. */
export const REMAINING = named(
  `(?:remaining|left|available)(?:number|num|no)?(?:of)?${COUNTED}|${COUNTED}(?:remaining|left|available)`,
  '(?:count|total)?$',
);
/** Names that say that no visits are left. */
export const USED_UP = named(
  `usedup|exhausted|depleted|maxedout|overlimit|(?:max(?:imum)?|limits?|quota|cap|${COUNTED})+(?:is|was|has|been)*(?:reached|exceeded|exhausted|depleted|usedup)`,
  '(?:link|at|on|date|time)*$',
);

/** Names that say that the link has rules. */
export const MENTIONED = /^has(?:redirect|geo|country|device)?(?:rules?|targeting|targets)$/;
