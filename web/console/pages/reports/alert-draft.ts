import type { Metric } from '../../../../core/analytics/dimensions.ts';
import { METRIC_NAMES } from '../../../../core/analytics/metric-names.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { typedNumber } from '../../parts/typed-number.ts';
import type { Recipient, RecipientRow } from './report-draft.ts';
import { viewBody } from './view-field.tsx';

export type Alerts = ResponseOf<'/alerts'>;
export type Alert = Alerts['alerts'][number];
type Condition = Alert['condition'];

/** The input of an alert's form. Numbers are texts. */
export type AlertDraft = {
  name: string;
  /** Empty: the alert keeps a query of its own. */
  view: string;
  metric: Metric;
  type: Condition['type'];
  value: string;
  percent: string;
  hours: string;
  recipients: RecipientRow[];
};

/** Returns the input that a form begins with. @param first recipient of a new alert */
export function alertDraftOf(alert: Alert | null, first: Recipient): AlertDraft {
  const { metric = 'clicks', type = 'change', value, percent, window_hours = 1 } = alert?.condition ?? {};
  const recipients: Recipient[] = alert?.recipients ?? [first];
  return {
    name: alert?.name ?? '',
    view: alert?.saved_view_id ?? '',
    metric,
    type,
    value: value === undefined ? '' : String(value),
    percent: String(percent ?? 50),
    hours: String(window_hours),
    recipients: recipients.map(({ type: way, address }, key) => ({ type: way, address, key })),
  };
}

const hasValue = ({ type }: Pick<AlertDraft, 'type'>) => type === 'over' || type === 'under';

/** Returns the body of a create or a change. */
export const alertBodyOf = (draft: AlertDraft, alert: Alert | null) => ({
  name: draft.name.trim(),
  ...viewBody(draft.view, alert),
  condition: {
    metric: draft.metric,
    type: draft.type,
    ...(hasValue(draft) && { value: typedNumber(draft.value) }),
    ...(draft.type === 'change' && { percent: typedNumber(draft.percent) }),
    window_hours: typedNumber(draft.hours),
  },
  recipients: draft.recipients.map(({ type, address }) => ({ type, address: address.trim() })),
});

export const CONDITION_NAMES: Record<Condition['type'], string> = {
  change: 'Differs from the usual by',
  none: 'Is none',
  over: 'Is over',
  under: 'Is under',
};

/** Returns a condition in words, such as `Clicks under 100 in 3 hours`. */
export function conditionWords({ metric, type, value, percent, window_hours }: Condition): string {
  const hours = window_hours === 1 ? 'an hour' : `${window_hours} hours`;
  const name = METRIC_NAMES[metric];
  if (type === 'none') return `No ${name.toLowerCase()} in ${hours}`;
  if (type === 'change') return `${name} of ${hours} differ by ${percent}%`;
  return `${name} ${type} ${value} in ${hours}`;
}
