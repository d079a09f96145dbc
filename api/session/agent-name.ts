import { parseUserAgent } from '../../core/enrich/user-agents.ts';

/** Returns a browser's name for its user, such as `Firefox on Linux`. */
export function agentName(userAgent: string): string {
  const { browser, os } = parseUserAgent(userAgent);
  return `${browser} on ${os}`.slice(0, 100);
}
