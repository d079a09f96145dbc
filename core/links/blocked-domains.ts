import { readFileSync, statSync } from 'node:fs';
import { ConfigError } from '../settings/config.ts';
import type { Logger } from '../tier/log.ts';
import { withoutTrailingDot } from './web-urls.ts';

/** The operator's list of domains that no link may lead to. */
export type BlockedDomains = {
  /** Whether a URL's host is on the list, or below a domain on it. */
  blocks(url: string): boolean;
  /** Calls `changed` after each change of the list. */
  listen(changed: () => void): void;
  close(): void;
};

/** Interval between checks of the file. Milliseconds. */
const LOOK_EVERY_MS = 500;

/** One label, or several with dots between; `xn--` included. */
const DOMAIN = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_][a-z0-9_-]{0,62})*$/;

/**
 * Opens `BLOCKED_DOMAINS_FILE` and follows its changes: one domain on each line, `#` begins a comment. A change that
 * can't be read leaves the former list in force.
 *
 * @param path empty: nothing is blocked
 * @throws {ConfigError} when the file can't be read, or a line is not a domain
 */
export function openBlockedDomains(path: string, log: Pick<Logger, 'info' | 'error'>): BlockedDomains {
  if (path === '') return { blocks: () => false, listen: () => undefined, close: () => undefined };
  const listeners: (() => void)[] = [];
  let seen = versionOf(path);
  let failing = false;
  let domains: ReadonlySet<string>;
  try {
    domains = readDomains(path);
  } catch (error) {
    throw new ConfigError('BLOCKED_DOMAINS_FILE', path, (error as Error).message);
  }

  function look(): void {
    const version = versionOf(path);
    if (version === seen && !failing) return;
    try {
      domains = readDomains(path);
      failing = false;
      log.info({ domains: domains.size }, 'read the changed list of blocked domains');
      for (const changed of listeners) changed();
    } catch (error) {
      if (version !== seen)
        log.error({ err: error }, 'failed to read BLOCKED_DOMAINS_FILE; keeping the former list');
      failing = true;
    }
    seen = version;
  }
  const timer = setInterval(look, LOOK_EVERY_MS);
  timer.unref();

  return {
    blocks(text) {
      if (domains.size === 0) return false;
      const host = hostOf(text);
      if (host === null) return false;
      for (let rest = host; ; ) {
        if (domains.has(rest)) return true;
        const dot = rest.indexOf('.');
        if (dot === -1) return false;
        rest = rest.slice(dot + 1);
      }
    },
    listen: (changed) => listeners.push(changed),
    close: () => clearInterval(timer),
  };
}

/** Returns the host as browsers resolve it: in lower case, encoded, without a trailing dot. */
function hostOf(text: string): string | null {
  const url = URL.parse(text);
  return url && withoutTrailingDot(url.hostname);
}

/** Changes with the file; empty while it can't be read. */
function versionOf(path: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(path);
    return `${ino} ${size} ${mtimeMs}`;
  } catch {
    return '';
  }
}

function readDomains(path: string): ReadonlySet<string> {
  const domains = new Set<string>();
  for (const [index, line] of readFileSync(path, 'utf8').split('\n').entries()) {
    const text = line.replace(/#.*/, '').trim();
    if (text === '') continue;
    // The parser encodes other scripts in the same way as the URLs that are compared.
    const domain = hostOf(`https://${text}/`);
    if (domain === null || !DOMAIN.test(domain) || /[/:@?]/.test(text)) {
      throw new Error(
        `line ${index + 1} must be a domain such as "example.com", not ${JSON.stringify(text)}`,
      );
    }
    domains.add(domain);
  }
  return domains;
}
