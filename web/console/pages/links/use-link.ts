import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { callApi } from '../../api/call.ts';
import { ApiFailure } from '../../api/failures.ts';
import type { LinkRecord, LinkRecords } from '../../api/links.ts';
import { type Question, questionOptions } from '../../api/queries.ts';

/**
 * Reads a link on any plan: `GET /links/:id` requires a paid one.
 *
 * @param id null: disabled
 */
export function useLink(id: string | null): UseQueryResult<LinkRecord> {
  return useQuery({
    ...questionOptions<LinkRecords>(questionOf(id)),
    enabled: id !== null,
    select: onlyLink,
  });
}

/**
 * Reads the link's current state, uncached.
 *
 * @throws {ApiFailure}
 */
export async function readLink(id: string): Promise<LinkRecord> {
  const { path, query } = questionOf(id);
  return onlyLink(await callApi<LinkRecords>(path, { query }));
}

const questionOf = (id: string | null): Question => ({ path: '/links', query: { view: 'records', ids: id } });

/** @throws {ApiFailure} `not_found` */
function onlyLink({ links: [link] }: LinkRecords): LinkRecord {
  if (!link) throw new ApiFailure(404, { code: 'not_found', message: 'the workspace has no such link' });
  return link;
}
