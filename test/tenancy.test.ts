import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApi, type TestWorkspace, testApi } from './support/api.ts';
import { OWN } from './support/attempt.ts';
import { OPEN } from './support/member-attempts.ts';
import { type ConsoleBrowser, signedInAs } from './support/members.ts';
import { ATTEMPTS } from './support/tenancy.ts';
import { plantVictim, SECRET_NAME, type Victim } from './support/victim.ts';

/**
 * One workspace calls every endpoint with the ids of another. The list of endpoints comes from the API's own
 * documents, so a new route without attempts of its own fails here.
 */

let api: TestApi;
let thief: TestWorkspace;
let thiefMember: ConsoleBrowser;
let owner: TestWorkspace;
let victim: Victim;
let operations: string[];
let rowsOfWorkspace: string;
/** Rows of the owner after the attempts so far. */
let rows: unknown[];

beforeAll(async () => {
  api = await testApi();
  owner = await api.addWorkspace({ name: 'Owner' });
  thief = await api.addWorkspace({ name: 'Thief' });
  thiefMember = await signedInAs(api, thief, 'owner');
  victim = await plantVictim(api, owner);
  const documents = await Promise.all(
    ['/openapi.json', '/console-openapi.json'].map((path) =>
      thief.get<{ paths: Record<string, Record<string, unknown>> }>(path),
    ),
  );
  operations = documents.flatMap(({ body }) =>
    Object.entries(body.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    ),
  );
  rowsOfWorkspace = await statementOfRows();
  rows = await rowsOfOwner();
});
afterAll(() => api.close());

/** Returns the statement that reads every row of a workspace in every table with workspaces. */
async function statementOfRows(): Promise<string> {
  const found = await api.stores.pool.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.columns
     WHERE table_schema = 'public' AND column_name = 'workspace_id'`,
  );
  // Calls write the keys' last use.
  const names = found.rows.map(({ name }) => name).filter((name) => name !== 'api_keys');
  expect(names).toEqual(expect.arrayContaining(['destinations', 'folders', 'links', 'slugs']));
  // Anyone who tries the email of a member leaves an entry.
  const own = (name: string) => (name === 'audit_entries' ? "AND action <> 'session.sign_in_failed'" : '');
  const each = names.map(
    (name) => `SELECT '${name}' AS name, t::text AS row FROM ${name} t WHERE workspace_id = $1 ${own(name)}`,
  );
  return `${each.join(' UNION ALL ')} ORDER BY name, row`;
}

/** Returns every row of the owner, except what its own calls write. */
async function rowsOfOwner(): Promise<unknown[]> {
  const named = { name: 'rows of a workspace', text: rowsOfWorkspace, values: [owner.workspace.id] };
  return (await api.stores.pool.query(named)).rows;
}

test('every endpoint of the document has attempts here', () => {
  expect(operations.toSorted()).toEqual(Object.keys(ATTEMPTS).toSorted());
});

describe.each(Object.keys(ATTEMPTS))('%s', (operation) => {
  test('returns and changes nothing of another workspace', async () => {
    const [method = 'GET'] = operation.split(' ') as ['GET' | 'POST' | 'PATCH' | 'DELETE'];
    for (const { path, body, status, as } of ATTEMPTS[operation]?.(victim) ?? []) {
      const caller = as === 'member' ? thiefMember : thief;
      const response = await caller.call(method, path, body === undefined ? {} : { body });
      expect([path, response.status]).toEqual([path, status]);
      const marks = [
        victim.destination,
        victim.folder,
        victim.bioPage,
        SECRET_NAME,
        'secret-path',
        owner.workspace.id,
        victim.member,
        victim.session,
      ];
      if (status === 200) marks.push(victim.program, victim.partner, victim.refCode);
      for (const mark of marks) expect(response.text).not.toContain(mark);
      if (status === 200) expect(response.text).not.toContain(victim.link);
      if (status === 200) expect(response.text).not.toContain(victim.visitor);
    }
    const before = rows;
    rows = await rowsOfOwner();
    expect(rows).toEqual(before);
  });

  if (OPEN.includes(operation)) return;

  test('requires a key', async () => {
    const [method = 'GET'] = operation.split(' ') as ['GET' | 'POST' | 'PATCH' | 'DELETE'];
    for (const { path, body } of ATTEMPTS[operation]?.(victim) ?? []) {
      const call = body === undefined ? {} : { body };
      expect((await thief.call(method, path, { ...call, key: null })).status).toBe(401);
      expect(
        (await thief.call(method, path, { ...call, key: `lk_live_00000000_${'0'.repeat(48)}` })).status,
      ).toBe(401);
    }
  });
});

test("replays nothing for another workspace's Idempotency-Key", async () => {
  const headers = { 'idempotency-key': 'same' };
  const body = { ...OWN, external: true };
  const theirs = await owner.post<{ destination_id: string }>('/links', body, { headers });
  const own = await thief.post<{ destination_id: string }>('/links', body, { headers });
  expect(own.headers['idempotent-replayed']).toBeUndefined();
  expect(own.body.destination_id).not.toBe(theirs.body.destination_id);
});
