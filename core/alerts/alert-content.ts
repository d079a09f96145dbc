import type { AlertCondition } from './condition.ts';

/** The facts of a message about an alert. Instants are ISO 8601. */
export type AlertContent = {
  kind: 'alert';
  name: string;
  condition: AlertCondition;
  tell: 'firing' | 'resolved';
  /** What was found; null: a rate without clicks. */
  value: number | null;
  /** Mean of the same hours of the previous weeks, where the alert is about a change. */
  expected: number | null;
  /** End of the hours that were looked at. */
  until: string;
  /** When the alert began. */
  since: string;
  /** ISO 4217 code. */
  currency: string;
  /** The view in the console. */
  url: string;
};
