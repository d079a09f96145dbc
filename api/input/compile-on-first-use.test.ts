import { expect, test } from 'vitest';
import { compileOnFirstUse } from './compile-on-first-use.ts';

test('a schema of several routes is compiled once, at its first use', () => {
  const compiledOf = compileOnFirstUse<string>();
  const compiled: object[] = [];
  const of = (schema: object) =>
    compiledOf(schema, () => {
      compiled.push(schema);
      return JSON.stringify(schema);
    });
  const [shared, other] = [{ type: 'string' }, { type: 'number' }];
  const routes = [of(shared), of(shared), of(other)];
  expect(compiled).toEqual([]);
  for (const _ of ['first request', 'second request']) {
    expect(routes.map((route) => route())).toEqual([shared, shared, other].map((one) => JSON.stringify(one)));
  }
  expect(compiled).toEqual([shared, other]);
});
