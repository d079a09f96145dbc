import { afterAll, afterEach, expect } from 'vitest';
import { takeDifferences } from './compared-responses.ts';

/** Fails the test that caused a response which does not match the OpenAPI document. */
const compare = () =>
  expect(takeDifferences().join('\n'), 'responses that the document does not have').toBe('');

afterEach(compare);
// Compares responses of `beforeAll` in a file whose tests were all left out, and of `afterAll`.
afterAll(compare);
