import { exponentOf } from '../../core/money/money.ts';

/** Returns what formats the figures of a metric. @param currency that of the workspace, in lower case */
export function figureFormat(metric: string, currency: string): (value: number | null | undefined) => string {
  const options = optionsOf(metric, currency);
  const format = new Intl.NumberFormat('en-US', options);
  return (value) => (value === null || value === undefined ? '-' : format.format(value));
}

function optionsOf(metric: string, currency: string): Intl.NumberFormatOptions {
  if (metric === 'conversion_rate')
    return { style: 'percent', minimumFractionDigits: 2, maximumFractionDigits: 2 };
  if (metric === 'revenue' || metric === 'revenue_per_click') {
    const digits = exponentOf(currency);
    return { minimumFractionDigits: digits, maximumFractionDigits: digits };
  }
  return { maximumFractionDigits: 2 };
}

/** Returns the change from one figure to another as a percentage; empty without an earlier figure. */
export function changeOf(now: number | null | undefined, before: number | null | undefined): string {
  if (!before || now === null || now === undefined) return '';
  const percent = new Intl.NumberFormat('en-US', {
    style: 'percent',
    maximumFractionDigits: 0,
    signDisplay: 'exceptZero',
  });
  return percent.format((now - before) / before);
}

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** Returns a bar of at most `width` characters, in eighths of one, for a share from 0 to 1. */
export function bar(share: number, width: number): string {
  const eighths = Math.round(Math.max(0, Math.min(1, share)) * width * 8);
  // A figure above zero is visible.
  const shown = share > 0 ? Math.max(1, eighths) : 0;
  return '█'.repeat(Math.floor(shown / 8)) + (EIGHTHS[shown % 8] ?? '');
}
