import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** User of a child process; empty: the user of this process. */
export type Identity = { uid?: number; gid?: number };

/** User of the service when root starts it. */
const SERVICE_USER = 'hoplog';
/** User created for PostgreSQL when root starts it on a machine without the user `postgres`. */
const OWN_USER = 'hoplog-postgres';

/**
 * Returns the user for PostgreSQL, which refuses to run as root. Under root: the owner of an existing directory, else
 * `postgres`, else `hoplog-postgres` (created if possible), else `nobody`.
 */
export function postgresIdentity(directory: string): Identity {
  if (process.getuid?.() !== 0) return {};
  const existing = ownerOf(directory) ?? userNamed('postgres') ?? userNamed(OWN_USER);
  return existing ?? madeUser(OWN_USER) ?? userNamed('nobody') ?? noUser();
}

/**
 * Returns the user for the whole service under root: the owner of DATA_DIR unless that is root, else `hoplog` (created
 * if possible), else `nobody`. Not `postgres`, who may administer another PostgreSQL of the machine.
 */
export function serviceIdentity(dataDir: string): Identity {
  return (
    ownerOf(dataDir) ?? userNamed(SERVICE_USER) ?? madeUser(SERVICE_USER) ?? userNamed('nobody') ?? noUser()
  );
}

/** Returns the owner of a directory; null when it is root's or does not exist. */
function ownerOf(directory: string): Identity | null {
  const owner = statSync(directory, { throwIfNoEntry: false });
  return owner && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : null;
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

function madeUser(name: string): Identity | null {
  try {
    const options = ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin'];
    execFileSync('useradd', [...options, name], { stdio: 'ignore' });
  } catch {
    return null;
  }
  return userNamed(name);
}

function noUser(): never {
  throw new Error(
    'the service does not run as root, and this machine has no user "nobody": ' +
      'start as an ordinary user, or set DATABASE_URL',
  );
}

/**
 * Returns the first directory on the path that the user cannot traverse, such as root's home; null if none.
 */
function untraversableParent(path: string, identity: Identity): string | null {
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
 * or of the paths, or must listen on a port below 1024, `setpriv` of util-linux grants the one capability that it
 * needs; otherwise it gets none.
 *
 * @throws Error naming the directory, when `setpriv` is missing or not permitted
 */
export function commandAs(
  identity: Identity,
  program: string,
  paths: string[],
  { bindsLowPort = false }: { bindsLowPort?: boolean } = {},
): Command {
  const barrier = [dirname(program), ...paths]
    .map((path) => untraversableParent(path, identity))
    .find((at) => at !== null);
  if (barrier === undefined && !bindsLowPort) return { file: program, args: [], identity };
  const granted = [barrier !== undefined && '+dac_read_search', bindsLowPort && '+net_bind_service'];
  const capabilities = ['-all', ...granted.filter((one) => one !== false)].join(',');
  const args = [
    `--reuid=${identity.uid}`,
    `--regid=${identity.gid}`,
    '--clear-groups',
    // Without it access(2), which PostgreSQL uses to find its files, ignores the capabilities of ordinary users.
    '--securebits=+no_setuid_fixup',
    `--inh-caps=${capabilities}`,
    `--ambient-caps=${capabilities}`,
  ];
  try {
    execFileSync('setpriv', [...args, program, '--version'], { stdio: 'ignore' });
  } catch (error) {
    const problem =
      barrier === undefined
        ? 'cannot listen on a port below 1024: choose another port'
        : `cannot traverse ${barrier}: choose a DATA_DIR and a checkout outside of it`;
    throw new Error(
      `root starts the service as uid ${identity.uid}, which ${problem}, or start as an ordinary user`,
      { cause: error },
    );
  }
  return { file: 'setpriv', args: [...args, program], identity: {} };
}
