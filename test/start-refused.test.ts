import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { refusedStart } from './support/service.ts';

const ONE_LINE = /^hoplog: [^\n]*\n$/;

let directory: string;
let dataDir: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-start-'));
  dataDir = join(directory, 'data');
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('a wrong setting or a port in use ends the start with one line that names the setting', async () => {
  const wrong = await refusedStart({ dataDir, env: { JOURNAL_SYNC: 'sometimes' } });
  expect(wrong.status).toBe(1);
  expect(wrong.log.trim().split('\n')).toHaveLength(1);
  expect(wrong.log).toContain('JOURNAL_SYNC="sometimes"');

  const stranger = await refusedStart({ dataDir, env: { TRUST_PROXY: 'garbage' } });
  expect(stranger).toMatchObject({
    status: 1,
    log: expect.stringMatching(/^hoplog: .*TRUST_PROXY="garbage".*\n$/),
  });
  expect(existsSync(dataDir)).toBe(false);

  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  const taken = await refusedStart({ dataDir, env: { INGEST_PORT: String(port), LOG_LEVEL: 'warn' } });
  server.close();
  expect(taken.status).toBe(1);
  expect(taken.log).toContain(`INGEST_PORT="${port}"`);

  const same = { API_PORT: String(port), INGEST_PORT: String(port) };
  const twice = await refusedStart({ dataDir, env: { ...same, LOG_LEVEL: 'warn' } });
  expect(twice.status).toBe(1);
  expect(twice.log.trim()).toBe(
    `hoplog: setting INGEST_PORT="${port}": names port ${port}, and so does API_PORT="${port}"`,
  );
});

test('a file in place of a directory in DATA_DIR ends the start with one line', async () => {
  mkdirSync(dataDir);
  for (const name of ['run', 'clickhouse']) {
    writeFileSync(join(dataDir, name), 'not of Hoplog');
    const inTheWay = await refusedStart({ dataDir, env: { LOG_LEVEL: 'warn' } });
    expect(inTheWay).toEqual({ status: 1, log: expect.stringMatching(ONE_LINE) });
    expect(inTheWay.log).toContain(`${join(dataDir, name)} must be a directory, but is a file: move it away`);
    rmSync(join(dataDir, name));
  }
});

test('an unknown host ends the start with one line', async () => {
  const nowhere = await refusedStart({ dataDir, env: { HOST: 'no-such-host.invalid', LOG_LEVEL: 'warn' } });
  expect(nowhere).toEqual({ status: 1, log: expect.stringMatching(ONE_LINE) });
  expect(nowhere.log).toContain('setting HOST="no-such-host.invalid": must be an address of this machine');
});

test('root starts nothing on a directory with files of others, and changes none of them', async ({
  skip,
}) => {
  skip(process.getuid?.() !== 0, 'needs root');
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, 'letter.txt'), 'of root');
  const refused = await refusedStart({ dataDir });
  expect(refused).toEqual({ status: 1, log: expect.stringMatching(ONE_LINE) });
  expect(refused.log).toContain('must be a directory of Hoplog alone when root starts it');
  expect([statSync(dataDir).uid, statSync(join(dataDir, 'letter.txt')).uid]).toEqual([0, 0]);
});
