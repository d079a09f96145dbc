import { describe, expect } from 'vitest';
import type { TestApi, TestWorkspace } from '../../test/support/api.ts';
import { sharedShopTest as test } from '../../test/support/fixtures.ts';
import { type Body, CASES, type Case, OF_SESSIONS, SCHEMA_ALONE } from './fault-cases.ts';

/** "All faults of a body in one response, each at its field": each route with a JSON body. */

test('each route with a JSON body is in the table', async ({ api }) => {
  const named = [...CASES.map(({ route }) => route), ...Object.keys(SCHEMA_ALONE)];
  expect(named.filter((route, n) => named.indexOf(route) !== n)).toEqual([]);
  const routes = (await routesWithBody(api)).filter((route) => !OF_SESSIONS.test(route));
  expect(routes.sort()).toEqual(named.sort());
});

describe.each(CASES)('$route', (one) => {
  const { body, faults, prevents = {}, isStored = false } = one;
  const wrong: Body = Object.assign({}, ...Object.values(faults));
  const beyond = Object.keys(faults);

  if (!isStored)
    test('names all faults beyond the schema together', async ({ shop }) => {
      const paths = await pathsOf(shop, one, { ...body, ...wrong });
      expect(paths.toSorted()).toEqual(beyond.toSorted());
    });

  test('names faults beyond the schema beside each fault of the schema', async ({ shop }) => {
    const others = Object.keys(body).filter((name) => !(name in wrong));
    expect(others.length).toBeGreaterThan(0);
    for (const name of others) {
      const paths = await pathsOf(shop, one, { ...body, ...wrong, [name]: ofWrongType(body[name]) });
      const expected = [name, ...beyond.filter((path) => !prevents[path]?.includes(name))];
      expect(paths.toSorted()).toEqual(expected.toSorted());
    }
  });
});

describe.each(Object.entries(SCHEMA_ALONE))('%s', (route, body) => {
  test('names all faults of its schema together', async ({ shop }) => {
    const names = Object.keys(body);
    const wrong = Object.fromEntries(names.map((name) => [name, ofWrongType(body[name])]));
    const paths = await pathsOf(shop, { route }, wrong);
    expect(new Set(paths.map((path) => path.split('.', 1)[0]))).toEqual(new Set(names));
  });
});

/** A value of a type that the field does not take. */
const ofWrongType = (value: unknown): unknown => (typeof value === 'object' && value !== null ? 5 : { a: 1 });

/** Returns the fields that the response to a faulty body names. */
async function pathsOf(shop: TestWorkspace, { route }: Pick<Case, 'route'>, body: Body): Promise<string[]> {
  const [method, path = ''] = route.split(' ');
  const url = path
    .replace('/credits/{id}', '/credits/1')
    .replaceAll(/\{\w+\}/g, '019a0000-0000-7000-8000-00000000000a');
  const answer = await shop.call(method as 'POST' | 'PATCH' | 'DELETE', url, { body });
  expect([route, answer.status, answer.text]).toEqual([route, 400, expect.stringContaining('"bad_request"')]);
  return (answer.body.error.details ?? []).map((detail) => detail.path);
}

/** Returns the routes of both documents that take JSON and can be called with a key, as `POST /links`. */
async function routesWithBody(api: TestApi): Promise<string[]> {
  const routes = new Set<string>();
  for (const name of ['openapi', 'console-openapi']) {
    const { paths } = (await api.app.inject(`/api/v1/${name}.json`)).json<{ paths: Paths }>();
    for (const [path, operations] of Object.entries(paths))
      for (const [method, { requestBody }] of Object.entries(operations))
        if (requestBody?.content?.['application/json'])
          routes.add(`${method.toUpperCase()} ${path.replace('/api/v1', '')}`);
  }
  return [...routes];
}

type Paths = Record<string, Record<string, { requestBody?: { content?: Record<string, unknown> } }>>;
