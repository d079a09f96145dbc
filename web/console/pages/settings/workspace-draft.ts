import { isLanguage, LANGUAGE_NAMES } from '../../../../core/languages/languages.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { plural } from '../../formats.ts';

export type Settings = ResponseOf<'/workspace'>;

/** The settings as their fields have them: texts, empty for null. */
export type Draft = Record<
  | 'name'
  | 'primary_domain'
  | 'attribution_model'
  | 'attribution_window'
  | 'time_zone'
  | 'currency'
  | 'tracking'
  | 'language'
  | 'problem_mails'
  | 'check_destinations'
  | 'retention_months',
  string
>;
type Field = keyof Draft;

export const MODEL_NAMES: Record<string, string> = {
  last_click: 'Last click',
  first_click: 'First click',
  linear: 'Linear: all clicks share',
};

export const TRACKING_NAMES: Record<string, string> = {
  full: 'Full: by a cookie',
  cookieless: 'Cookieless: within a day',
  none: 'None: each click is a visitor',
};

export const PROBLEM_MAIL_NAMES: Record<string, string> = { true: 'To all owners', false: 'To no one' };

export const CHECK_NAMES: Record<string, string> = { true: 'Once a day', false: 'Off' };

/** Names of the settings, in words. */
export const FIELD_NAMES: Record<Field, string> = {
  name: 'Name',
  primary_domain: 'Own site',
  attribution_model: 'Attribution model',
  attribution_window: 'Attribution window',
  time_zone: 'Time zone',
  currency: 'Currency',
  tracking: 'Tracking',
  language: 'Language of visitors’ pages',
  problem_mails: 'Problems by mail',
  check_destinations: 'Check of destinations',
  retention_months: 'Months that clicks are kept',
};

export const draftOf = (settings: Settings): Draft => ({
  name: settings.name,
  primary_domain: settings.primary_domain ?? '',
  attribution_model: settings.attribution_model,
  attribution_window: String(settings.attribution_window),
  time_zone: settings.time_zone ?? '',
  currency: settings.currency.toUpperCase(),
  tracking: settings.tracking,
  language: settings.language ?? '',
  problem_mails: String(settings.problem_mails),
  check_destinations: String(settings.check_destinations),
  retention_months: settings.retention_months === null ? '' : String(settings.retention_months),
});

/** Fields that differ, in the order of the form. */
export const changedIn = (before: Draft, draft: Draft): Field[] =>
  (Object.keys(before) as Field[]).filter((field) => draft[field].trim() !== before[field]);

/** The body of a change: what differs. Text that is not a number is sent as it is, so that the API names the field. */
export function bodyOf(before: Draft, draft: Draft): Record<string, unknown> {
  return Object.fromEntries(
    changedIn(before, draft).map((field) => {
      const text = draft[field].trim();
      if (NULLABLE.includes(field) && text === '') return [field, null];
      if (SWITCHES.includes(field)) return [field, text === 'true'];
      return [field, NUMBERS.includes(field) ? numberIn(text) : text];
    }),
  );
}

const NULLABLE: readonly Field[] = ['primary_domain', 'time_zone', 'language', 'retention_months'];
const SWITCHES: readonly Field[] = ['problem_mails', 'check_destinations'];
const NUMBERS: readonly Field[] = ['attribution_window', 'retention_months'];

/** A whole number; other text as it is. */
export const numberIn = (text: string) => (/^\d+$/.test(text.trim()) ? Number(text) : text);

/** Whether saving deletes clicks that are kept now. */
export function deletesClicks(before: Draft, draft: Draft): boolean {
  const months = Number(draft.retention_months);
  if (draft.retention_months === '' || !(months >= 1)) return false;
  return before.retention_months === '' || months < Number(before.retention_months);
}

/** A number of days, as it was typed. */
export const daysIn = (text: string) => (Number(text) === 1 ? '1 day' : `${text.trim()} days`);

const LATER = 'Orders and leads that are first reported from now on. Earlier ones and their figures stay.';

/** A language's name in English. */
const languageName = (language: string) => (isLanguage(language) ? LANGUAGE_NAMES[language] : language);

/** What a change of a field does to figures. */
export const EFFECTS: Record<Field, (draft: Draft, before: Draft) => string> = {
  name: () => 'The name of the workspace. No figure changes.',
  primary_domain: ({ primary_domain }) =>
    primary_domain.trim() === ''
      ? 'The next link to an own site sets the domain. Links and figures stay.'
      : `New links to other domains than ${primary_domain.trim()} must be marked external. Links and figures stay.`,
  attribution_model: ({ attribution_model }) =>
    `Attribution model ${MODEL_NAMES[attribution_model] ?? attribution_model}. ${LATER}`,
  attribution_window: ({ attribution_window }) =>
    `Attribution window of ${daysIn(attribution_window)}. ${LATER}`,
  time_zone: () =>
    'Clicks and orders near midnight move to another day in all reports, also of the past. Totals of a period in days change at its edges.',
  currency: ({ currency }) =>
    `Revenue of reports is in ${currency}. It can change only while the workspace has no orders.`,
  tracking: ({ tracking }) => TRACKING_EFFECTS[tracking] ?? '',
  language: ({ language }) =>
    language === ''
      ? 'Visitors see pages in the language of their browser. Bio pages with a language of their own keep it.'
      : `Visitors see pages in ${languageName(language)}, and mail is in it for people who chose no other. Bio pages with a language of their own keep it.`,
  problem_mails: ({ problem_mails }) =>
    problem_mails === 'true'
      ? 'Owners get a mail when something fails, such as a webhook, and when it works again. No figure changes.'
      : 'Problems are shown in the console alone. No figure changes.',
  check_destinations: ({ check_destinations }) =>
    check_destinations === 'true'
      ? 'Each destination of a live link is requested once a day. These requests are no clicks.'
      : 'Destinations are not requested. No figure changes.',
  retention_months: ({ retention_months }, before) =>
    deletesClicks(before, { ...before, retention_months })
      ? `Clicks older than ${plural(Number(retention_months), 'month', 'months')} are deleted, which can’t be undone. Reports of longer periods begin later.`
      : 'Clicks are kept longer. Clicks that were deleted do not come back.',
};

const BY_EMAIL =
  'Orders are attributed only where a person is identified by email. Figures of the past stay.';

const TRACKING_EFFECTS: Record<string, string> = {
  full: 'Visitors are recognized by their cookie from now on. Figures of the past stay.',
  cookieless: `A person who returns on another day counts as a new visitor. ${BY_EMAIL}`,
  none: `Each click counts as a new visitor. ${BY_EMAIL}`,
};

/** The settings with their names, for members who may not change them. */
export function shownValues(settings: Settings): { name: string; value: string }[] {
  const { attribution_model, tracking, retention_months } = settings;
  return [
    { name: FIELD_NAMES.name, value: settings.name },
    { name: FIELD_NAMES.primary_domain, value: settings.primary_domain ?? 'Not set: the first link sets it' },
    { name: FIELD_NAMES.attribution_model, value: MODEL_NAMES[attribution_model] ?? attribution_model },
    { name: FIELD_NAMES.attribution_window, value: plural(settings.attribution_window, 'day', 'days') },
    { name: FIELD_NAMES.time_zone, value: settings.time_zone ?? "Each viewer's own" },
    { name: FIELD_NAMES.currency, value: settings.currency.toUpperCase() },
    { name: FIELD_NAMES.tracking, value: TRACKING_NAMES[tracking] ?? tracking },
    {
      name: FIELD_NAMES.language,
      value: settings.language === null ? 'Each visitor’s own' : languageName(settings.language),
    },
    { name: FIELD_NAMES.problem_mails, value: PROBLEM_MAIL_NAMES[String(settings.problem_mails)] ?? '' },
    { name: FIELD_NAMES.check_destinations, value: CHECK_NAMES[String(settings.check_destinations)] ?? '' },
    {
      name: 'Clicks are kept',
      value: retention_months === null ? 'Forever' : plural(retention_months, 'month', 'months'),
    },
  ];
}
