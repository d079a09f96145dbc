import type { FastifyRequest } from 'fastify';
import { AppError } from '../../core/errors.ts';
import type { Config } from '../../core/settings/config.ts';

/** What browsers say of a call that a page of this very origin makes, or that somebody typed in. */
const OWN_SITES = ['same-origin', 'none'];

/**
 * Refuses what a page of another origin made a browser send. Callers that are no browsers send neither header.
 *
 * @throws {AppError} `forbidden`
 */
export function refuseForeignPage(
  { headers, protocol, host }: FastifyRequest,
  { appUrl, baseUrl }: Pick<Config, 'appUrl' | 'baseUrl'>,
): void {
  const { origin, 'sec-fetch-site': site } = headers;
  if (origin !== undefined && ![appUrl, baseUrl, `${protocol}://${host}`].includes(origin)) {
    throw new AppError('forbidden', `a page of ${origin} must not use the session of the console`);
  }
  if (site !== undefined && !OWN_SITES.includes(String(site))) {
    throw new AppError('forbidden', 'a page of another site must not use the session of the console');
  }
}

/** The same as a hook, for routes that ask for no key or session yet. */
export function ownPage(config: Pick<Config, 'appUrl' | 'baseUrl'>) {
  return async (request: FastifyRequest): Promise<void> => refuseForeignPage(request, config);
}
