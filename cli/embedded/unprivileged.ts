import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** User of a child process; empty: the user of this process. */
export type Identity = { uid?: number; gid?: number };

/** User created for PostgreSQL when root starts it on a machine without the user `postgres`. */
const OWN_USER = 'hoplog-postgres';

/**
 * Returns the user for PostgreSQL, which refuses to run as root. Under root: the owner of an existing directory, else
 * `postgres`, else `hoplog-postgres` (created if possible), else `nobody`.
 */
export function postgresIdentity(directory: string): Identity {
  if (process.getuid?.() !== 0) return {};
  try {
    const owner = statSync(directory);
    if (owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  } catch {
    // The directory does not exist yet.
  }
  return userNamed('postgres') ?? userNamed(OWN_USER) ?? madeUser() ?? userNamed('nobody') ?? noUser();
}

function userNamed(name: string): Identity | null {
  try {
    const number = (flag: string) =>
      Number.parseInt(
        execFileSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
        10,
      );
    return { uid: number('-u'), gid: number('-g') };
  } catch {
    return null;
  }
}

function madeUser(): Identity | null {
  try {
    const options = ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin'];
    execFileSync('useradd', [...options, OWN_USER], { stdio: 'ignore' });
  } catch {
    return null;
  }
  return userNamed(OWN_USER);
}

function noUser(): never {
  throw new Error(
    'PostgreSQL cannot run as root, and this machine has no user "postgres" or "nobody": ' +
      'start as an ordinary user, or set DATABASE_URL',
  );
}

/**
 * Returns the first directory on the path that the user cannot traverse, such as root's home; null if none.
 */
export function untraversableParent(path: string, identity: Identity): string | null {
  if (identity.uid === undefined) return null;
  for (let at = resolve(path); ; at = dirname(at)) {
    if (!canTraverse(at, identity)) return at;
    if (dirname(at) === at) return null;
  }
}

/** Checks mode bits only; ignores supplementary groups and access lists. */
function canTraverse(directory: string, { uid, gid }: Identity): boolean {
  const stat = statSync(directory);
  if (!stat.isDirectory()) return true;
  if (stat.uid === uid) return (stat.mode & 0o100) !== 0;
  if (stat.gid === gid) return (stat.mode & 0o010) !== 0;
  return (stat.mode & 0o001) !== 0;
}

/** Command line that starts a program as a user. */
export type Command = { file: string; args: string[]; identity: Identity };

/**
 * Returns the command line that runs a program as a user. If the user cannot traverse a parent directory of the program
 * or of the paths, `setpriv` of util-linux grants the one capability that it needs; otherwise it gets none.
 *
 * @throws Error naming the directory, when `setpriv` is missing or not permitted
 */
export function commandAs(identity: Identity, program: string, paths: string[]): Command {
  const barrier = [dirname(program), ...paths]
    .map((path) => untraversableParent(path, identity))
    .find((at) => at !== null);
  if (barrier === undefined) return { file: program, args: [], identity };
  const args = [
    `--reuid=${identity.uid}`,
    `--regid=${identity.gid}`,
    '--clear-groups',
    // Without it access(2), which PostgreSQL uses to find its files, ignores the capabilities of ordinary users.
    '--securebits=+no_setuid_fixup',
    '--inh-caps=-all,+dac_read_search',
    '--ambient-caps=-all,+dac_read_search',
  ];
  try {
    execFileSync('setpriv', [...args, program, '--version'], { stdio: 'ignore' });
  } catch (error) {
    throw new Error(
      `PostgreSQL runs as uid ${identity.uid}, which cannot traverse ${barrier}: choose a DATA_DIR and a checkout ` +
        'outside of it, start as an ordinary user, or set DATABASE_URL',
      { cause: error },
    );
  }
  return { file: 'setpriv', args: [...args, program], identity: {} };
}
