import type { FastifyRequest } from 'fastify';
import { parseKey } from '../core/access/keys.ts';

const PREFIX = { secret: 'lk', publishable: 'pk', partner: 'pt' };

/**
 * Returns the caller of a request as histories show it: `lk_live_1a2b3c4d_***`, or `member` and the member's id. The
 * key's secret part is masked; the part before it finds the key in the list of keys.
 */
export function actorOf(request: FastifyRequest): string {
  const { member } = request.auth;
  if (member) return `member ${member.id}`;
  const token = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
  const key = parseKey(token);
  if (!key) throw new Error('the request has neither a key nor a member');
  return `${PREFIX[key.kind]}_live_${key.lookup}_***`;
}
