/** Columns of a click whose shares are printed. */
export type SharedColumns = {
  device: string;
  browser: string;
  os: string;
  isBot: boolean;
  channel: string;
  country: string;
};

/**
 * Returns tables of shares, one per column, largest first.
 *
 * @param top rows of a table; the rest is summed
 * @returns lines to print
 */
export function shareTables(clicks: readonly SharedColumns[], top = 12): string[] {
  const columns: [title: string, value: (click: SharedColumns) => string][] = [
    ['bot', (click) => (click.isBot ? 'bot' : 'person')],
    ['device', (click) => click.device],
    ['browser', (click) => click.browser],
    ['os', (click) => click.os],
    ['channel', (click) => click.channel],
    ['country', (click) => click.country || '(none)'],
  ];
  return columns.flatMap(([title, value]) => [...table(title, count(clicks, value), clicks.length, top), '']);
}

function count(
  clicks: readonly SharedColumns[],
  value: (click: SharedColumns) => string,
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const click of clicks) counts.set(value(click), (counts.get(value(click)) ?? 0) + 1);
  return counts;
}

function table(title: string, counts: Map<string, number>, total: number, top: number): string[] {
  const sorted = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const rest = sorted.slice(top);
  const shown = sorted.slice(0, top);
  if (rest.length > 0) shown.push([`(${rest.length} others)`, rest.reduce((sum, [, n]) => sum + n, 0)]);
  return [
    `${title.padEnd(24)} ${'clicks'.padStart(8)} ${'share'.padStart(8)}`,
    ...shown.map(([name, n]) => `${name.padEnd(24)} ${String(n).padStart(8)} ${percent(n, total)}`),
  ];
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(1)} %`.padStart(8);
}
