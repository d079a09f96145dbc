import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const hasPhp = spawnSync('php', ['--version']).status === 0;

test.skipIf(!hasPhp)('the plugin prints the tag and the order as WooCommerce has it (needs php)', () => {
  const check = spawnSync('php', [fileURLToPath(new URL('check.php', import.meta.url))], {
    encoding: 'utf8',
  });
  expect([check.status, check.stderr, check.stdout]).toEqual([0, '', 'the plugin prints what it should\n']);
});
