import { badRequest } from '../../core/errors.ts';
import { nearestName } from '../../core/text/near-names.ts';
import type { Api } from '../dependencies.ts';

/** Paths of the API. Console and embed pages, at other paths, ignore the parameters of campaigns and mail programs. */
const API_PATHS = '/api/v1/';
/** Maximum characters of an unknown name in an error. */
const LONGEST = 100;

/**
 * Refuses query parameters that a route's schema does not name: a misspelled filter must not return all rows. Register
 * it after authentication.
 */
export function addUnknownParameters(app: Api): void {
  app.addHook('onRoute', ({ url, schema }) => {
    const query = schema?.querystring;
    if (!url.startsWith(API_PATHS) || query === undefined || propertiesOf(query) !== undefined) return;
    throw new Error(`the query schema of ${url} must be an object with properties`);
  });
  app.addHook('preValidation', async (request) => {
    const { url, schema } = request.routeOptions;
    if (!url?.startsWith(API_PATHS)) return;
    const known = propertiesOf(schema?.querystring) ?? {};
    const twice = Object.entries(request.query as object).find(([, value]) => Array.isArray(value))?.[0];
    if (twice !== undefined && Object.hasOwn(known, twice)) {
      throw badRequest(twice, 'is given twice; separate values by commas');
    }
    const unknown = Object.keys(request.query as object).find((name) => !Object.hasOwn(known, name));
    if (unknown === undefined) return;
    const near = nearestName(unknown, Object.keys(known));
    const more = near === null ? {} : { hint: `did you mean \`${near}\`?` };
    throw badRequest(unknown.slice(0, LONGEST), 'is not a parameter of this endpoint', more);
  });
}

function propertiesOf(schema: unknown): object | undefined {
  return (schema as { properties?: object } | undefined)?.properties;
}
