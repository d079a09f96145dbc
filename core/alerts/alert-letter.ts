import type { Language } from '../languages/languages.ts';
import { type ReportWords, reportWords } from '../languages/reports/words.ts';
import type { Letter } from '../mail/letter.ts';
import { plainName } from '../mail/plain-name.ts';
import { type FigureWords, figureWords } from '../reports/figure-words.ts';
import type { AlertContent } from './alert-content.ts';
import { type AlertCondition, WEEKS } from './condition.ts';

/** Returns a message about an alert as a letter. @param when returns an instant in words */
export function alertLetter(
  content: AlertContent,
  workspaceName: string,
  language: Language,
  when: (iso: string) => string,
): Letter {
  const { condition, tell, value, expected, currency } = content;
  const words = reportWords(language);
  const figures = figureWords(language, currency);
  const alert = plainName(content.name);
  const change = figures.change(value, expected);
  const usual = figures.figure(condition.metric, expected);
  const subject = words(`alert_${tell}_subject`, { alert });
  return {
    subject,
    title: tell === 'firing' ? alert : subject,
    paragraphs: [words(tell === 'firing' ? 'alert_holds' : 'alert_ended', { name: workspaceName })],
    facts: [
      [words('condition'), conditionText(condition, words, figures)],
      [words(`metric_${condition.metric}`), figures.figure(condition.metric, value)],
      ...(expected === null
        ? []
        : [
            [words('usual'), change === null ? usual : words('usual_now', { value: usual, change })] as const,
          ]),
      [words('until'), when(content.until)],
      ...(tell === 'resolved' ? [[words('began'), when(content.since)] as const] : []),
    ],
    button: { label: words('open_view'), url: content.url },
  };
}

/** Returns a condition in words, such as `Clicks: under 100 in 3 hours`. */
function conditionText(
  { metric: of, type, value, percent, window_hours: count }: AlertCondition,
  words: ReportWords,
  figures: FigureWords,
): string {
  const metric = words(`metric_${of}`);
  if (type === 'none') return words('condition_none', { metric, count });
  if (type === 'change') {
    const least = figures.percent((percent ?? 0) / 100);
    return words('condition_change', { metric, count, percent: least, weeks: WEEKS });
  }
  return words(`condition_${type}`, { metric, count, value: figures.figure(of, value) });
}
