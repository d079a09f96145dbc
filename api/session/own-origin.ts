import type { FastifyRequest } from 'fastify';
import { AppError } from '../../core/errors.ts';
import type { Config } from '../../core/settings/config.ts';

/** `Sec-Fetch-Site` of a request by a page of this origin, or typed into the address bar. */
const OWN_SITES = ['same-origin', 'none'];

/**
 * Refuses requests that a page of another origin made. Clients other than browsers send neither header.
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

/** {@link refuseForeignPage} as a hook, for routes without authentication. */
export function ownPage(config: Pick<Config, 'appUrl' | 'baseUrl'>) {
  return async (request: FastifyRequest): Promise<void> => refuseForeignPage(request, config);
}
