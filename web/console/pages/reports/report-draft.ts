import type { ResponseOf } from '../../api/responses.ts';
import { viewBody } from './view-field.tsx';

export type Reports = ResponseOf<'/reports'>;
export type Report = Reports['reports'][number];
type Schedule = Report['schedule'];
export type Recipient = Pick<Report['recipients'][number], 'type' | 'address'>;

/** A recipient of the form. `key`: of the row, whatever is typed into it. */
export type RecipientRow = Recipient & { key: number };

/** The input of a report's form. Numbers are texts of choices. */
export type ReportDraft = {
  name: string;
  /** Empty: the report keeps a query of its own. */
  view: string;
  every: Schedule['every'];
  weekday: string;
  day: string;
  hour: string;
  time_zone: string;
  recipients: RecipientRow[];
  show_revenue: boolean;
};

/** The first recipient of a new report or alert: the member by mail, or a chat where the service sends none. */
export const firstRecipient = (sendsMail: boolean, email: string | null): Recipient =>
  sendsMail ? { type: 'email', address: email ?? '' } : { type: 'slack', address: '' };

/** Returns the input that a form begins with. @param given of a new report */
export function draftOf(
  report: Report | null,
  given: { view: string; name: string; zone: string; recipient: Recipient },
): ReportDraft {
  const { every = 'week', weekday = 1, day = 1, hour = 8, time_zone = given.zone } = report?.schedule ?? {};
  const recipients: Recipient[] = report?.recipients ?? [given.recipient];
  return {
    name: report?.name ?? given.name,
    view: report ? (report.saved_view_id ?? '') : given.view,
    every,
    weekday: String(weekday),
    day: String(day),
    hour: String(hour),
    time_zone,
    recipients: recipients.map(({ type, address }, key) => ({ type, address, key })),
    show_revenue: report?.show_revenue ?? false,
  };
}

/** Whether every recipient has an address. */
export const hasRecipients = (rows: readonly RecipientRow[]): boolean =>
  rows.length > 0 && rows.every(({ address }) => address.trim() !== '');

/** Returns the body of a create or a change. */
export const bodyOf = (draft: ReportDraft, report: Report | null) => ({
  name: draft.name.trim(),
  ...viewBody(draft.view, report),
  schedule: {
    every: draft.every,
    ...(draft.every === 'week' && { weekday: Number(draft.weekday) }),
    ...(draft.every === 'month' && { day: Number(draft.day) }),
    hour: Number(draft.hour),
    time_zone: draft.time_zone,
  },
  recipients: draft.recipients.map(({ type, address }) => ({ type, address: address.trim() })),
  show_revenue: draft.show_revenue,
});

export const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

const clockHour = (hour: number) => `${String(hour).padStart(2, '0')}:00`;

/** The hours of a day, as choices. */
export const HOURS = Array.from({ length: 24 }, (_, hour) => ({
  value: String(hour),
  label: clockHour(hour),
}));

/** Returns a schedule in words, such as `Mondays at 08:00`. */
export function scheduleWords({ every, weekday = 1, day = 1, hour }: Schedule): string {
  const at = `at ${clockHour(hour)}`;
  if (every === 'day') return `Each day ${at}`;
  if (every === 'week') return `${WEEKDAYS[weekday - 1]}s ${at}`;
  return `Each month on day ${day} ${at}`;
}

export const CHAT_NAMES: Record<Recipient['type'], string> = {
  email: 'Mail',
  slack: 'Slack',
  discord: 'Discord',
};
