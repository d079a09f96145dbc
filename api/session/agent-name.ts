import { parseUserAgent } from '../../core/enrich/user-agents.ts';

/** A browser as its user knows it, such as `Firefox on Linux`. */
export function agentName(userAgent: string): string {
  const { browser, os } = parseUserAgent(userAgent);
  return `${browser} on ${os}`.slice(0, 100);
}
