import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { OPERATIONS } from '../typescript/src/generated/operations.ts';

const ROOT = join(import.meta.dirname, '../..');
const node = (program: string, args: string[], input?: string): string =>
  execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', join(ROOT, program), ...args], {
    encoding: 'utf8',
    maxBuffer: 100_000_000,
    ...(input !== undefined && { input }),
  });

test("the generated files of the SDKs are those of the API's OpenAPI document", () => {
  const printed = node('api/print-openapi.ts', []);
  const folder = mkdtempSync(join(tmpdir(), 'hoplog-sdk-'));
  try {
    node('sdk/generate/main.ts', [folder], printed);
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.\w+$/.test(name),
    );
    expect(files.length).toBeGreaterThan(1);
    for (const file of files) {
      const isCurrent =
        readFileSync(join(folder, file), 'utf8') === readFileSync(join(ROOT, 'sdk', file), 'utf8');
      expect(isCurrent, `sdk/${file} is stale: run \`npm run types\``).toBe(true);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const [{ paths }] = JSON.parse(printed) as [
    { paths: Record<string, Record<string, { operationId: string }>> },
  ];
  const ids = Object.values(paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
  expect(Object.keys(OPERATIONS).toSorted()).toEqual([...ids, 'links.listPerformance'].toSorted());
});
