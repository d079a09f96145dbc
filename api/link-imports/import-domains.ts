import { badRequest } from '../../core/errors.ts';
import type { ImportDomains } from '../../core/link-imports/create-row.ts';
import { hostOfUrl } from '../../core/link-imports/meaning/address.ts';

/**
 * Returns the domains of an import.
 *
 * @param shortUrl origin of short links
 * @param given.standard domain of rows that name none, in any spelling; null: the deployment's own
 * @throws {AppError} `bad_request` when `standard` is not a proven domain of the workspace
 */
export function importDomains(
  shortUrl: string,
  { proven, standard, unproven }: Omit<ImportDomains, 'own'>,
): ImportDomains {
  const own = new URL(shortUrl).hostname;
  if (standard === undefined || standard === null) return { own, proven, standard, unproven };
  const host = hostOfUrl(standard.includes('/') ? standard : `//${standard}`);
  if (host === own) return { own, proven, standard: null, unproven };
  if (host !== null && proven.includes(host)) return { own, proven, standard: host, unproven };
  throw badRequest('domain', 'must be a verified domain of the workspace; see GET /api/v1/domains');
}
