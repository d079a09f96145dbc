import type { FastifyRequest } from 'fastify';
import type { Place } from '../../core/mail/contents.ts';
import { storableText } from '../../core/text/storable.ts';
import { agentName } from '../session/agent-name.ts';

/** Returns where a request came from, as a mail says it. */
export const placeOf = ({ headers, ip }: FastifyRequest): Place => ({
  browser: nameOf(headers['user-agent'] ?? ''),
  address: ip,
});

const nameOf = (userAgent: string): string =>
  userAgent === '' ? 'unknown' : agentName(storableText(userAgent));

/** The page of a member's own sign-in, and that of the keys. */
export const ACCOUNT_PAGE = '/console/settings?tab=sign-in';
export const KEYS_PAGE = '/console/settings/developers';
