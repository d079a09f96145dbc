import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { table } from '../../cli/output.ts';
import { commit, load, machineLine } from './machine.ts';
import { spreadOf } from './statistics.ts';

const RESULTS = fileURLToPath(new URL('../results', import.meta.url));
const loadBefore = load();

export type Report = {
  /** File name in `bench/results`, without `.txt`. */
  name: string;
  title: string;
  /** Versions of the measured software, such as `nginx 1.22.1`. */
  versions: string[];
  tables: { title?: string; header: string[]; rows: string[][] }[];
  notes?: string[];
  /** Medians for `bench/capacity.ts`. */
  figures?: Record<string, number>;
};

/** Prints a report and writes it to `folder` (empty: `bench/results`), with command, machine, and versions. */
export function report(folder: string, { name, title, versions, tables, notes, figures }: Report): void {
  const command = ['node', `bench/${basename(process.argv[1] ?? '')}`, ...process.argv.slice(2)].join(' ');
  const text = [
    title,
    '',
    `$ ${command}`,
    `${new Date().toISOString().slice(0, 16)}Z, ${commit()}`,
    machineLine(loadBefore),
    [`node ${process.versions.node}`, ...versions].join(', '),
    ...tables.flatMap(({ title, header, rows }) => [
      '',
      ...(title === undefined ? [] : [title]),
      table(header, rows),
    ]),
    ...(notes && notes.length > 0 ? ['', ...notes] : []),
    ...(figures
      ? ['', 'figures', ...Object.entries(figures).map(([key, value]) => `${key} ${value.toPrecision(6)}`)]
      : []),
    '',
  ].join('\n');
  process.stdout.write(text);
  const target = folder === '' ? RESULTS : folder;
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, `${name}.txt`), text);
}

/** `12,345 (11,900 to 12,800)`: the median and range of the rounds. */
export function spread(values: readonly number[], digits = 0): string {
  const { median, least, most } = spreadOf(values);
  return values.length === 1
    ? number(median, digits)
    : `${number(median, digits)} (${number(least, digits)} to ${number(most, digits)})`;
}

export function number(value: number, digits = 0): string {
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export function median(values: readonly number[]): number {
  return spreadOf(values).median;
}
