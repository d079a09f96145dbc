import { expect, test } from 'vitest';
import { isSlip, nearestName } from './near-names.ts';

test.each([
  ['slugg', 'slug'],
  ['chanel', 'channel'],
  ['channle', 'channel'],
  ['visitorId', 'visitor_id'],
  ['Visitor-ID', 'visitor_id'],
  ['destinationURL', 'destination_url'],
  ['filter', 'filters'],
  ['timezone', 'time_zone'],
  ['value', 'values'],
  ['desination_ur', 'destination_url'],
])('%s is a slip of %s', (name, wanted) => {
  expect(isSlip(name, wanted)).toBe(true);
});

test.each([
  ['tags', 'days'],
  ['url', 'utm'],
  ['tracked', 'label'],
  ['destination', 'destination_url'],
  ['created_at', 'starts_at'],
  ['x'.repeat(100_000), 'name'],
  ['', 'id'],
])('%.20s is no slip of %s', (name, wanted) => {
  expect(isSlip(name, wanted)).toBe(false);
});

test('the nearest of several names is found', () => {
  expect(nearestName('channels_', ['channel', 'channels'])).toBe('channels');
  expect(nearestName('nothing', ['channel', 'channels'])).toBeNull();
});
