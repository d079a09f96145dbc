import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/**
 * Parts without an entry of their own. Another part shows them (the chart by its sample, the range by the picker), they
 * read the API, or they are a state of a query, a notification, or a dialog, which covers the page.
 */
const SHOWN_BY_OTHERS = [
  'chart',
  'time-chart',
  'range-form',
  'secret-made',
  'dialog',
  'form-dialog',
  'replace-secret',
  'query-view',
  'list-tab',
  'skeletons',
  'undo-notice',
  'destination-pages',
  'links-field',
  'new-folder-dialog',
];

test('the page of parts has every part', () => {
  const parts = readdirSync(new URL('../../parts/', import.meta.url)).flatMap((name) =>
    name.endsWith('.tsx') ? [name.slice(0, -'.tsx'.length)] : [],
  );
  const page = readFileSync(new URL('parts-page.tsx', import.meta.url), 'utf8');
  const missing = parts.filter((part) => !SHOWN_BY_OTHERS.includes(part) && !page.includes(`/${part}.tsx'`));
  expect(parts.length).toBeGreaterThan(15);
  expect(missing).toEqual([]);
});
