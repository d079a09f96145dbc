import { expect, test } from 'vitest';
import { addressWithView } from './shared-dashboards.ts';

const url = 'https://app.example/shared/abc';
const open = (search: string, show_revenue = true) =>
  addressWithView({ url, show_revenue }, new URLSearchParams(search));

test('a shared dashboard opens with the period, filters and metric of the page', () => {
  expect(open('')).toBe(url);
  const search = 'days=7&compare=none&f=country%3Ais%3ADE%2CAT&f=device%3Ais%3Amobile&metric=leads&by=day';
  expect(open(search)).toBe(`${url}?${search}`);
});

test('lists of the page and hidden revenue stay out of the address', () => {
  expect(open('place=country&days=7&metric=revenue', false)).toBe(`${url}?days=7`);
  expect(open('metric=revenue')).toBe(`${url}?metric=revenue`);
});
