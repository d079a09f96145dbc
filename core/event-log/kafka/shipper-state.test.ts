import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readShipperState, writeShipperState } from './shipper-state.ts';

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'hoplog-shipper-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

test('a saved state is read again, and there is none before the first start', () => {
  const path = directory();
  expect(readShipperState(path)).toBeNull();
  const state = {
    log: 'cluster/hoplog.events.v1',
    partition: 3,
    offset: 2n ** 60n,
    acknowledged: 7n,
    truncatedAhead: -1n,
  };
  writeShipperState(path, state);
  expect(readShipperState(path)).toEqual(state);
});

test.each([
  ['partition', -1],
  ['partition', '0'],
  ['offset', '-1'],
  ['offset', 5],
  ['acknowledged', '-2'],
  ['truncated_ahead', ''],
  ['log', null],
])('a state with %s %j is refused', (name, value) => {
  const path = directory();
  const valid = { log: 'a', partition: 0, offset: '0', acknowledged: '-1', truncated_ahead: '-1' };
  writeFileSync(join(path, 'shipped.json'), JSON.stringify({ ...valid, [name]: value }));
  expect(() => readShipperState(path)).toThrow(`${path}/shipped.json is not a valid state of a shipper`);
});
