import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect } from 'vitest';
import { type Document, ENDLESS } from '../../api/openapi/test-support.ts';
import { createKey } from '../../sql/workspaces/keys.ts';
import { createPartner } from '../../sql/workspaces/partners.ts';
import type { TestApi } from '../support/api.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { cookiesOf, signedInAs } from '../support/members.ts';
import { NIGHTLY } from '../support/nightly.ts';
import { ATTEMPTS } from '../support/tenancy.ts';
import { plantVictim, type Victim } from '../support/victim.ts';

/**
 * Schemathesis makes requests of the OpenAPI documents, valid and invalid, for every operation and with each kind of
 * key. A 5xx fails, and so does a response that the documents do not have.
 */

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const SCHEMATHESIS = here('.venv/bin/schemathesis');
/** The same cases in each run, and others each night. */
const SEED = process.env.FUZZ_SEED ?? (NIGHTLY ? String(randomInt(2 ** 31)) : '1');
/** The least number of cases. */
const CASES = Number(process.env.FUZZ_CASES ?? 5_000);
/** Cases at the edges of each schema, which schemathesis walks in its phase `coverage`. November 2026. */
const EDGES = 13_000;
/** Four fifths of the cases are edges, which the seed chooses: they take less CPU time than drawn cases. */
const EDGE_SHARE = Math.min(1, (CASES * 0.8) / EDGES);
/** Bound for a loaded machine. Milliseconds. */
const CASE_LIMIT = 1_000;
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
];

let url: string;
let folder: string;
let document: Document;
let running: ChildProcess | null = null;
/** How many responses had each status. */
const statuses = new Map<number, number>();

test.beforeAll(async ({ api }) => {
  url = await api.app.listen({ host: '127.0.0.1', port: 0 });
  api.app.server.on('request', (_, response: ServerResponse) => {
    response.once('finish', () => {
      statuses.set(response.statusCode, (statuses.get(response.statusCode) ?? 0) + 1);
    });
  });
  folder = mkdtempSync(join(tmpdir(), 'hoplog-fuzz-'));
  document = await wholeDocument(api);
  writeFileSync(join(folder, 'document.json'), JSON.stringify(document));
  writeFileSync(join(folder, 'setup.json'), JSON.stringify(await setup(api)));
});
afterAll(async () => {
  running?.kill();
  rmSync(folder, { recursive: true, force: true });
});

/** The documents of keys and of the console in one. */
async function wholeDocument(api: TestApi): Promise<Document> {
  const [keys, browser] = await Promise.all(
    ['openapi', 'console-openapi'].map(async (name) => {
      return (await api.app.inject(`/api/v1/${name}.json`)).json() as Document;
    }),
  );
  if (!keys || !browser) throw new Error('a document is missing');
  const paths = { ...keys.paths };
  for (const [path, methods] of Object.entries(browser.paths)) paths[path] = { ...paths[path], ...methods };
  for (const path of ENDLESS) delete paths[path];
  const { schemas, responses, headers, securitySchemes } = keys.components;
  return {
    ...keys,
    paths,
    components: {
      schemas: { ...browser.components.schemas, ...schemas },
      responses: { ...browser.components.responses, ...responses },
      headers: { ...browser.components.headers, ...headers },
      securitySchemes: { ...browser.components.securitySchemes, ...securitySchemes },
    },
  };
}

/** What `hooks.py` gives the cases: keys, and ids that exist. */
async function setup(api: TestApi) {
  const shop = await api.addWorkspace();
  const victim = await plantVictim(api, shop);
  const read = await createKey(api.stores.pool, {
    workspaceId: shop.workspace.id,
    kind: 'secret',
    label: 'read',
    restrictions: ['read'],
  });
  const partner = await createPartner(api.stores.pool, 'Platform');
  const member = await signedInAs(api, shop, 'owner');
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  return {
    seed: SEED,
    edge_share: EDGE_SHARE,
    callers: {
      secret: bearer(shop.secretKey),
      publishable: bearer(shop.publishableKey),
      read: bearer(read.token),
      partner: bearer(partner.token),
      session: { cookie: cookiesOf(member.token), 'x-csrf-token': member.csrf },
      nobody: {},
    },
    paths: realPaths(victim),
    fields: {
      destination_id: victim.destination,
      domain: victim.domainName,
      external_id: victim.externalId,
      external_user_id: victim.referrer,
      folder_id: victim.folder,
      link_id: victim.link,
      order_id: victim.orderId,
      partner_id: victim.partner,
      program_id: victim.program,
      visitor_id: victim.visitor,
    },
  };
}

/** The path parameters of each operation, with ids of the workspace. */
function realPaths(victim: Victim): Record<string, Record<string, string>> {
  const found: Record<string, Record<string, string>> = {};
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const method of Object.keys(methods)) {
      const name = `${method.toUpperCase()} ${path}`;
      const values = ATTEMPTS[name]?.(victim)[0]?.path.split('?')[0]?.split('/').slice(1) ?? [];
      const parts = path.split('/').slice(3);
      const named = parts.flatMap((part, n) =>
        part.startsWith('{') ? [[part.slice(1, -1), values[n]]] : [],
      );
      if (named.length > 0) found[name] = Object.fromEntries(named);
    }
  }
  return found;
}

const operations = () => Object.values(document.paths).flatMap((methods) => Object.values(methods)).length;

/** Runs schemathesis. @returns its exit status and report */
function fuzz(): Promise<{ status: number | null; report: string }> {
  const options = [
    ...['--url', url, '--seed', SEED, '--checks', CHECKS.join(',')],
    // Draws that repeat others are left out.
    ...['--max-examples', String(Math.ceil((1.4 * (CASES - EDGE_SHARE * EDGES)) / operations()))],
    ...['--phases', 'coverage,fuzzing', '--no-shrink', '--continue-on-failure'],
    ...['--suppress-health-check', 'all', '--generation-database', 'none', '--warnings', 'off'],
  ];
  const child = spawn(SCHEMATHESIS, ['--no-color', 'run', join(folder, 'document.json'), ...options], {
    cwd: folder,
    env: {
      ...process.env,
      FUZZ_SETUP: join(folder, 'setup.json'),
      SCHEMATHESIS_HOOKS: 'hooks',
      PYTHONPATH: here('.'),
      PYTHONDONTWRITEBYTECODE: '1',
      PYTHONHASHSEED: '0',
    },
  });
  running = child;
  let report = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      report += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (status) => resolve({ status, report }));
  });
}

test(
  'schemathesis finds no 5xx, and no response that the documents do not have',
  async ({ skip }) => {
    skip(
      !existsSync(SCHEMATHESIS),
      'no schemathesis: python3 -m venv test/fuzz/.venv && test/fuzz/.venv/bin/pip install -r test/fuzz/requirements.txt',
    );
    process.stdout.write(`schemathesis: ${CASES} cases, FUZZ_SEED=${SEED}\n`);
    const { status, report } = await fuzz();
    const made = Number(/([\d,]+) generated/.exec(report)?.[1]?.replaceAll(',', ''));
    expect({ status, report: status === 0 ? '' : report }).toEqual({ status: 0, report: '' });
    // Of a hundred draws of an operation more repeat each other than of ten.
    expect(made).toBeGreaterThanOrEqual(NIGHTLY ? CASES * 0.8 : CASES);
    const taken = [...statuses].filter(([code]) => code < 300).reduce((sum, [, count]) => sum + count, 0);
    expect(taken).toBeGreaterThan(made / 20);
  },
  CASES * CASE_LIMIT,
);
