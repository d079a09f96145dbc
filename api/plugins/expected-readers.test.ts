import { expect, test } from 'vitest';
import { mintKey } from '../../core/access/keys.ts';
import type { Auth } from '../dependencies.ts';
import { createExpectedReaders } from './expected-readers.ts';

const { token } = mintKey('secret');
const authOf = (workspaceId: string, watermark: number | null, hasDeletedLinks = false) =>
  ({ workspace: { id: workspaceId }, readingPoint: { watermark, hasDeletedLinks } }) as Auth & {
    readingPoint: NonNullable<Auth['readingPoint']>;
  };

function readersAt() {
  const clock = { at: 1_000 };
  return { clock, readers: createExpectedReaders(() => clock.at) };
}

test('who was admitted is expected again, with what was known then', () => {
  const { readers } = readersAt();
  expect(readers.of(token)).toBeNull();
  readers.admitted(token, authOf('a', 7, true), readers.now());
  expect(readers.of(token)).toEqual({
    workspaceId: 'a',
    readingPoint: { watermark: 7, hasDeletedLinks: true },
  });
});

test('a key that differs in its secret part is not expected', () => {
  const { readers } = readersAt();
  readers.admitted(token, authOf('a', 7), readers.now());
  expect(readers.of(token.replace(/.$/, (last) => (last === '0' ? '1' : '0')))).toBeNull();
});

test('who was refused is not expected until admitted again', () => {
  const { readers } = readersAt();
  readers.admitted(token, authOf('a', 7), readers.now());
  readers.refused(token);
  expect(readers.of(token)).toBeNull();
  readers.admitted(token, authOf('a', 8), readers.now());
  expect(readers.of(token)?.readingPoint.watermark).toBe(8);
});

test('the watermark that any key came with last is expected of all, for a quarter of a second', () => {
  const { clock, readers } = readersAt();
  readers.admitted(token, authOf('a', 7, true), readers.now());
  clock.at += 200;
  readers.admitted(mintKey('secret').token, authOf('b', 9), readers.now());
  expect(readers.of(token)).toEqual({
    workspaceId: 'a',
    readingPoint: { watermark: 9, hasDeletedLinks: true },
  });
  clock.at += 250;
  expect(readers.of(token)).not.toBeNull();
  clock.at += 1;
  expect(readers.of(token)).toBeNull();
});

test('answers that overtake each other bring no older watermark back', () => {
  const { clock, readers } = readersAt();
  const first = readers.now();
  clock.at += 10;
  const second = readers.now();
  readers.admitted(token, authOf('a', 9), second);
  readers.admitted(mintKey('secret').token, authOf('b', 7), first);
  expect(readers.of(token)?.readingPoint.watermark).toBe(9);
  readers.admitted(token, authOf('a', 12), first);
  readers.admitted(token, authOf('a', 11), second);
  expect(readers.of(token)?.readingPoint.watermark).toBe(12);
});

test('a watermark that is no longer fresh is forgotten, also when the next is older or there is none', () => {
  const { clock, readers } = readersAt();
  readers.admitted(token, authOf('a', 9), readers.now());
  clock.at += 251;
  readers.admitted(token, authOf('a', 7), readers.now());
  expect(readers.of(token)?.readingPoint.watermark).toBe(7);
  clock.at += 251;
  readers.admitted(token, authOf('a', null), readers.now());
  expect(readers.of(token)?.readingPoint.watermark).toBe(0);
});
