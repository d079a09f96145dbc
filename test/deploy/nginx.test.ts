import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkNginx, NO_NGINX, writeNginxConfig } from './nginx.ts';

test('nginx takes the configuration of the compose file, and not one with a fault', (context) => {
  context.skip(NO_NGINX !== false, String(NO_NGINX));
  const directory = mkdtempSync(join(tmpdir(), 'hoplog-nginx-'));
  try {
    checkNginx(writeNginxConfig(directory, () => '127.0.0.1'));
    expect(() => checkNginx(writeNginxConfig(directory, () => 'nobody:x'))).toThrow(/invalid port|not found/);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
