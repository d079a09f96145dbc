import type { Dimension } from '../analytics/dimensions.ts';
import { METRIC_NAMES } from '../analytics/metric-names.ts';
import { CLICK_NAMES, clickField } from '../clicks/field-names.ts';
import type { Letter, LetterFigure, LetterTable } from '../mail/letter.ts';
import { plainName } from '../mail/plain-name.ts';
import { CHART_SIZE } from './chart-picture.ts';
import { changeText, figureText } from './figure-words.ts';
import type { ReportContent } from './report-content.ts';

const DIMENSION_NAMES: Partial<Record<Dimension, string>> = {
  link: 'Link',
  campaign: 'Campaign',
  tag: 'Tag',
  folder: 'Folder',
  weekday: 'Weekday',
  hour_of_day: 'Hour of day',
  ...Object.fromEntries(
    CLICK_NAMES.flatMap((name) => {
      const { dimension, label } = clickField(name);
      return dimension === undefined || label === undefined ? [] : [[dimension, label]];
    }),
  ),
};

/** Returns whether a report's period has nothing at all. */
export const isEmptyReport = ({ totals }: Pick<ReportContent, 'totals'>): boolean =>
  Object.values(totals).every((value) => !value);

/** Returns a report as a letter. @param workspaceName as a mail shows it */
export function reportLetter(content: ReportContent, workspaceName: string): Letter {
  const period = periodText(content);
  const name = plainName(content.name);
  const isEmpty = isEmptyReport(content);
  const metric = content.metrics[0] ?? 'clicks';
  const most = Math.max(...content.chart.values);
  return {
    subject: `${name}: ${period}`,
    title: name,
    paragraphs: [
      isEmpty
        ? `${workspaceName} has no data for this view in the period: ${period}.`
        : `${period}, compared with the ${content.every} before.`,
    ],
    ...(!isEmpty && {
      figures: figuresOf(content),
      picture: {
        ...CHART_SIZE,
        alt: `${METRIC_NAMES[metric]} by ${content.chart.unit}`,
        caption: `${METRIC_NAMES[metric]} by ${content.chart.unit}; the largest is ${figureText(metric, most, content.currency)}. Gray: the ${content.every} before.`,
      },
      tables: tablesOf(content),
    }),
    button: { label: 'Open the view', url: content.url },
    notes: [
      ...(content.isRequested ? ['This report was requested by hand, besides its schedule.'] : []),
      `Days and hours are those of ${content.timeZone}.`,
    ],
  };
}

function figuresOf({ metrics, totals, before, currency }: ReportContent): LetterFigure[] {
  return metrics.map((metric) => {
    const [now, then] = [totals[metric], before[metric]];
    const change = changeText(now, then);
    return {
      name: METRIC_NAMES[metric],
      value: figureText(metric, now, currency),
      change: change === null ? null : `${change}, from ${figureText(metric, then, currency)}`,
      isUp: change === null || now === then ? null : (now ?? 0) > (then ?? 0),
    };
  });
}

function tablesOf({ metrics, tables, currency }: ReportContent): LetterTable[] {
  const metric = metrics[0] ?? 'clicks';
  return tables
    .filter(({ rows }) => rows.length > 0)
    .map(({ dimension, rows }) => ({
      title: DIMENSION_NAMES[dimension] ?? dimension,
      columns: [METRIC_NAMES[metric], 'Change'],
      rows: rows.map(({ name, value, before }) => [
        shownName(dimension, name),
        figureText(metric, value, currency),
        changeText(value, before) ?? 'new',
      ]),
    }));
}

const countries = new Intl.DisplayNames('en', { type: 'region' });

function shownName(dimension: Dimension, name: string | null): string {
  if (name === null || name === '') return noneOf(dimension);
  if (dimension === 'country' && /^[A-Z]{2}$/.test(name)) return countries.of(name) ?? name;
  if (dimension === 'channel') return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  return plainName(name);
}

function noneOf(dimension: Dimension): string {
  const field = CLICK_NAMES.find((name) => clickField(name).dimension === dimension);
  return (field && clickField(field).none) ?? 'Unknown';
}

const days = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-US', { ...options, timeZone: 'UTC' });

/** `Monday, November 30, 2026`, `November 23 – 29, 2026`, `October 2026`. */
function periodText({ every, from, to }: Pick<ReportContent, 'every' | 'from' | 'to'>): string {
  const [first, last] = [new Date(`${from}T00:00:00Z`), new Date(`${to}T00:00:00Z`)];
  if (every === 'day') return days({ dateStyle: 'full' }).format(first);
  if (every === 'month') return days({ month: 'long', year: 'numeric' }).format(first);
  return days({ dateStyle: 'long' }).formatRange(first, last);
}
