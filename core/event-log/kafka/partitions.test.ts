import { expect, test } from 'vitest';
import { partitionOf } from './partitions.ts';

const at = (place: number) => ({ streamId: '01900000-0000-7000-8000-000000000001', ordinal: 7, place });
const partitionsOf = (places: number[], partitions: number) =>
  places.map((place) => partitionOf(at(place), partitions));

test('busy streams fill the partitions from the first one on, idle streams from the last one on', () => {
  expect(partitionsOf([0, 1, 2, 3, 4, 5], 4)).toEqual([0, 1, 2, 3, 0, 1]);
  expect(partitionsOf([-1, -2, -3, -4, -5], 4)).toEqual([3, 2, 1, 0, 3]);
  expect(partitionsOf([0, 5, -1, -9], 1)).toEqual([0, 0, 0, 0]);
  // Two ingest processes and two of the API, registered one after the other.
  expect(partitionsOf([0, 1, -1, -2], 4)).toEqual([0, 1, 3, 2]);
});

test('a stream without a place is on the partition of its ordinal', () => {
  expect(partitionOf({ streamId: at(0).streamId, ordinal: 7 }, 4)).toBe(3);
});
