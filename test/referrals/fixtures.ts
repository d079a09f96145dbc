import { apiTest } from '../support/fixtures.ts';
import { merchant } from './support.ts';

/**
 * Tests with `api`, the API of their file, and `m`, the calls of the merchant of `shop`, a new workspace for each test.
 */
export const merchantTest = apiTest.extend('m', ({ shop }) => merchant(shop));
