import type { Dimension, TimeDimension } from '../analytics/dimensions.ts';
import { type Language, localeOf } from '../languages/languages.ts';
import { type ReportWords, reportWords } from '../languages/reports/words.ts';
import type { Letter, LetterFigure, LetterTable } from '../mail/letter.ts';
import { plainName } from '../mail/plain-name.ts';
import { CHART_SIZE } from './chart-picture.ts';
import { type FigureWords, figureWords } from './figure-words.ts';
import type { ReportContent } from './report-content.ts';

/** What a report is written with. */
type Writing = { words: ReportWords; figures: FigureWords; locale: string };

/** Returns whether a report's period has nothing at all. */
export const isEmptyReport = ({ totals }: Pick<ReportContent, 'totals'>): boolean =>
  Object.values(totals).every((value) => !value);

/** Returns a report as a letter. @param workspaceName as a mail shows it */
export function reportLetter(content: ReportContent, workspaceName: string, language: Language): Letter {
  const { every, currency, timeZone } = content;
  const locale = localeOf(language);
  const writing: Writing = {
    words: reportWords(language),
    figures: figureWords(language, currency),
    locale,
  };
  const { words, figures } = writing;
  const period = periodText(content, locale);
  const name = plainName(content.name);
  const isEmpty = isEmptyReport(content);
  const metric = content.metrics[0] ?? 'clicks';
  const chart = words(content.chart.unit === 'hour' ? 'chart_hour' : 'chart_day', {
    metric: words(`metric_${metric}`),
  });
  const most = figures.figure(metric, Math.max(...content.chart.values));
  return {
    subject: `${name}: ${period}`,
    title: name,
    paragraphs: [
      isEmpty
        ? words('report_empty', { name: workspaceName, period })
        : words(`compared_${every}`, { period }),
    ],
    ...(!isEmpty && {
      figures: figuresOf(content, writing),
      picture: { ...CHART_SIZE, alt: chart, caption: words(`caption_${every}`, { chart, value: most }) },
      tables: tablesOf(content, writing),
    }),
    button: { label: words('open_view'), url: content.url },
    notes: [
      ...(content.isRequested ? [words('report_requested')] : []),
      words('report_zone', { zone: timeZone }),
    ],
  };
}

function figuresOf({ metrics, totals, before }: ReportContent, { words, figures }: Writing): LetterFigure[] {
  return metrics.map((metric) => {
    const [now, then] = [totals[metric], before[metric]];
    const change = figures.change(now, then);
    return {
      name: words(`metric_${metric}`),
      value: figures.figure(metric, now),
      change: change === null ? null : words('change_from', { change, before: figures.figure(metric, then) }),
      isUp: change === null || now === then ? null : (now ?? 0) > (then ?? 0),
    };
  });
}

function tablesOf({ metrics, tables }: ReportContent, writing: Writing): LetterTable[] {
  const { words, figures } = writing;
  const metric = metrics[0] ?? 'clicks';
  return tables
    .filter(({ rows }) => rows.length > 0)
    .map(({ dimension, rows }) => ({
      title: dimensionName(dimension, words),
      columns: [words(`metric_${metric}`), words('change')],
      rows: rows.map(({ name, value, before }) => [
        shownName(dimension, name, writing),
        figures.figure(metric, value),
        figures.change(value, before) ?? words('new_row'),
      ]),
    }));
}

type UtmDimension = Extract<Dimension, `utm_${string}`>;

const isUtm = (dimension: Dimension): dimension is UtmDimension => dimension.startsWith('utm_');
const isOfTime = (dimension: Dimension): dimension is TimeDimension => dimension.startsWith('time:');

function dimensionName(dimension: Dimension, words: ReportWords): string {
  // Names of parameters, the same in each language.
  if (isUtm(dimension)) return `UTM ${dimension.slice('utm_'.length)}`;
  return isOfTime(dimension) ? dimension : words(`by_${dimension}`);
}

function shownName(dimension: Dimension, name: string | null, { words, locale }: Writing): string {
  if (name === null || name === '') return noneOf(dimension, words);
  if (dimension === 'country' && /^[A-Z]{2}$/.test(name))
    return new Intl.DisplayNames(locale, { type: 'region' }).of(name) ?? name;
  // 2024 began on a Monday, which is 1.
  if (dimension === 'weekday' && /^[1-7]$/.test(name))
    return days(locale, { weekday: 'long' }).format(Date.UTC(2024, 0, Number(name)));
  if (dimension === 'channel') return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  return plainName(name);
}

function noneOf(dimension: Dimension, words: ReportWords): string {
  if (dimension === 'domain') return words('default_domain');
  if (dimension === 'ad_network') return words('no_ad');
  if (dimension === 'referer_host') return words('direct');
  return words(isUtm(dimension) ? 'none' : 'unknown');
}

const days = (locale: string, options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' });

/** `Monday, November 30, 2026`, `November 23 – 29, 2026`, `October 2026`. */
function periodText(
  { every, from, to }: Pick<ReportContent, 'every' | 'from' | 'to'>,
  locale: string,
): string {
  const [first, last] = [new Date(`${from}T00:00:00Z`), new Date(`${to}T00:00:00Z`)];
  if (every === 'day') return days(locale, { dateStyle: 'full' }).format(first);
  if (every === 'month') return days(locale, { month: 'long', year: 'numeric' }).format(first);
  return days(locale, { dateStyle: 'long' }).formatRange(first, last);
}
