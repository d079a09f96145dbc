import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { programArguments } from '../support/program.ts';
import { type ServedWorkspace, servedWorkspace } from '../support/shared-service.ts';

/** The command line of the MCP inspector, which is not of our making, against `/mcp` and `hoplog mcp`. */

const run = promisify(execFile);
const INSPECTOR = join(import.meta.dirname, 'inspector/node_modules/.bin/mcp-inspector');
/** Null where it is installed, with what to do otherwise. */
const NO_INSPECTOR = existsSync(INSPECTOR) ? null : 'npm ci --prefix test/mcp/inspector';

let home: string;
let served: ServedWorkspace;
let url: string;

type Inspected = { tools: { name: string }[]; isError?: boolean; structuredContent: Record<string, unknown> };

/** Calls the inspector. Returns what it prints, and its warnings. */
async function inspect(
  target: string[],
  ...args: string[]
): Promise<{ result: Inspected; warnings: string }> {
  const env = { ...process.env, HOME: home, HOPLOG_URL: url, HOPLOG_KEY: served.service.demo.secret_key };
  const { stdout, stderr } = await run(process.execPath, [INSPECTOR, '--cli', ...target, ...args], { env });
  return { result: JSON.parse(stdout) as Inspected, warnings: stderr };
}

test('the inspector is installed', { tags: 'nightly' }, ({ skip }) =>
  skip(NO_INSPECTOR !== null, NO_INSPECTOR ?? ''),
);

describe.skipIf(NO_INSPECTOR !== null)('the inspector', { tags: 'nightly' }, () => {
  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'hoplog-inspector-'));
    served = await servedWorkspace();
    url = new URL(served.service.api_url).origin;
  });
  afterAll(async () => {
    rmSync(home, { recursive: true, force: true });
    await served?.close();
  });

  const overHttp = (key = served.service.demo.secret_key) => [
    ...[`${url}/mcp`, '--transport', 'http', '--header', `Authorization: Bearer ${key}`],
  ];

  test('lists the tools over HTTP, and finds nothing wrong or less portable in their schemas', async () => {
    const { result, warnings } = await inspect(overHttp(), '--method', 'tools/list', '--strict');
    expect(result.tools.map(({ name }) => name)).toContain('query_analytics');
    expect(warnings).not.toMatch(/Warning|Error|Issue/);
  });

  test('calls a tool over HTTP and over standard input, and is refused with a publishable key', async () => {
    const call = ['--method', 'tools/call', '--tool-name', 'whoami'];
    const program = [process.execPath, ...programArguments('hoplog'), 'mcp'];
    const settings = [`HOPLOG_URL=${url}`, `HOPLOG_KEY=${served.service.demo.secret_key}`];
    const stdio = [...settings.flatMap((setting) => ['-e', setting]), '--', ...program];
    for (const { result } of [await inspect(overHttp(), ...call), await inspect([], ...call, ...stdio)]) {
      expect(result.isError).toBeUndefined();
      expect(result.structuredContent).toMatchObject({ untrusted: { workspace: { name: 'demo' } } });
    }
    const refused = inspect(overHttp(served.service.demo.publishable_key), ...call);
    // What the inspector makes of a 401.
    await expect(refused).rejects.toThrow(/auth_required/);
  });
});
