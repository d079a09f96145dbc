import { METRIC_NAMES } from '../analytics/metric-names.ts';
import type { Letter } from '../mail/letter.ts';
import { plainName } from '../mail/plain-name.ts';
import { changeText, figureText } from '../reports/figure-words.ts';
import type { AlertContent } from './alert-content.ts';
import { type AlertCondition, WEEKS } from './condition.ts';

/** Returns a message about an alert as a letter. @param when returns an instant in words */
export function alertLetter(
  content: AlertContent,
  workspaceName: string,
  when: (iso: string) => string,
): Letter {
  const { condition, tell, value, expected, currency } = content;
  const name = plainName(content.name);
  const figure = figureText(condition.metric, value, currency);
  const change = changeText(value, expected);
  return {
    subject: tell === 'firing' ? `Alert: ${name}` : `Resolved: ${name}`,
    title: tell === 'firing' ? name : `${name} is resolved`,
    paragraphs: [
      tell === 'firing'
        ? `The condition of this alert of ${workspaceName} holds: ${conditionText(condition, currency)}.`
        : `The condition of this alert of ${workspaceName} no longer holds: ${conditionText(condition, currency)}.`,
    ],
    facts: [
      [METRIC_NAMES[condition.metric], figure],
      ...(expected === null
        ? []
        : [
            [
              'Usual',
              `${figureText(condition.metric, expected, currency)}${change === null ? '' : ` (now ${change})`}`,
            ] as const,
          ]),
      ['Until', when(content.until)],
      ...(tell === 'resolved' ? [['Began', when(content.since)] as const] : []),
    ],
    button: { label: 'Open the view', url: content.url },
  };
}

/** Returns a condition in words, such as `clicks under 100 in 3 hours`. */
function conditionText(
  { metric, type, value, percent, window_hours }: AlertCondition,
  currency: string,
): string {
  const hours = window_hours === 1 ? 'an hour' : `${window_hours} hours`;
  const name = METRIC_NAMES[metric].toLowerCase();
  if (type === 'none') return `no ${name} in ${hours}`;
  if (type === 'change')
    return `${name} of ${hours} changed by ${percent}% or more against the same hours of the last ${WEEKS} weeks`;
  return `${name} ${type} ${figureText(metric, value, currency)} in ${hours}`;
}
