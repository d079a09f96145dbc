import { expect, test } from 'vitest';
import { freePort } from './free-port.ts';

test('a process is not told the same port twice, also when nobody has bound it yet', async () => {
  const ports = new Set<number>();
  for (let n = 0; n < 800; n++) ports.add(await freePort());
  expect(ports.size).toBe(800);
});
