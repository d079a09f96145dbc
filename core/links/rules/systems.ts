// Browsers run this file too.
import type { RuleSystem } from './types.ts';

/** Linux distributions that reports name separately, as `agent-names.ts` spells them. */
const LINUX: ReadonlySet<string> = new Set([
  'Arch',
  'CentOS',
  'Debian',
  'Deepin',
  'Edubuntu',
  'elementary OS',
  'Fedora',
  'Gentoo',
  'GNU',
  'Kubuntu',
  'Linpus',
  'Linux',
  'Lubuntu',
  'Mageia',
  'Mandriva',
  'Manjaro',
  'Mint',
  'openSUSE',
  'PCLinuxOS',
  'Raspbian',
  'Red Hat',
  'Sabayon',
  'Slackware',
  'SUSE',
  'Ubuntu',
  'VectorLinux',
  'Xubuntu',
  'Zenwalk',
]);

const OTHERS: ReadonlyMap<string, RuleSystem> = new Map([
  ['iOS', 'ios'],
  ['Android', 'android'],
  ['Windows', 'windows'],
  ['macOS', 'macos'],
]);

/** Returns the name that rules and targeting use for a system in reports: each Linux distribution is `linux`. */
export function systemOf(os: string): RuleSystem {
  return OTHERS.get(os) ?? (LINUX.has(os) ? 'linux' : 'other');
}
