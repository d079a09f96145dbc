import { expect, test } from 'vitest';
import { hookOf } from './attempt.ts';
import { CONCURRENCY, createConcurrencyLimit } from './concurrency-limit.ts';

const SPELLINGS = ['one.example', 'ONE.example', 'one.example.', 'one.example:443', 'user@one.example'];

test('many webhooks of a workspace to one host get the places of one, and other workspaces their own', async () => {
  const limit = createConcurrencyLimit();
  const done = Promise.withResolvers<void>();
  const begun = { ours: 0, theirs: 0 };
  const begin = (who: 'ours' | 'theirs', workspaceId: string, url: string) =>
    limit.run(
      hookOf({ id: url, workspaceId, url }),
      async () => {
        begun[who] += 1;
        await done.promise;
      },
      () => undefined,
    );
  const all = Array.from({ length: 20 }, (_, n) =>
    begin('ours', 'a', `https://${SPELLINGS[n % SPELLINGS.length]}/hook/${n}`),
  );
  all.push(...Array.from({ length: 3 }, (_, n) => begin('theirs', 'b', `https://one.example/${n}`)));
  await new Promise((resolve) => setImmediate(resolve));
  expect(begun).toEqual({ ours: CONCURRENCY.atATime.unknown, theirs: 3 });
  done.resolve();
  await Promise.all(all);
  expect(begun.ours).toBe(20);
});
