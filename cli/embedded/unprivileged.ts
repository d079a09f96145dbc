import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Who a child runs as; empty: as this process. */
export type Identity = { uid?: number; gid?: number };

/** Name of the user made for PostgreSQL when root starts it on a machine that has no `postgres`. */
const OWN_USER = 'hoplog-postgres';

/**
 * PostgreSQL refuses to run as root. Under root it runs as the owner of the directory that an earlier start
 * made, else as `postgres`, else as a system user of its own, else as `nobody`.
 */
export function postgresIdentity(directory: string): Identity {
  if (process.getuid?.() !== 0) return {};
  try {
    const owner = statSync(directory);
    if (owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  } catch {
    // Not made yet.
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
    'PostgreSQL does not run as root and this machine has no user "postgres" or "nobody" to run it as: ' +
      'start as an ordinary user, or set DATABASE_URL',
  );
}

/**
 * The first directory on the way to the path that the identity may not pass; null when it may pass all of
 * them. Root's home is usually such a directory.
 */
export function barrierOnTheWay(path: string, identity: Identity): string | null {
  if (identity.uid === undefined) return null;
  for (let at = resolve(path); ; at = dirname(at)) {
    if (!mayPass(at, identity)) return at;
    if (dirname(at) === at) return null;
  }
}

/** By mode bits alone; a supplementary group or an access list may allow more, which we then do not use. */
function mayPass(directory: string, { uid, gid }: Identity): boolean {
  const stat = statSync(directory);
  if (!stat.isDirectory()) return true;
  if (stat.uid === uid) return (stat.mode & 0o100) !== 0;
  if (stat.gid === gid) return (stat.mode & 0o010) !== 0;
  return (stat.mode & 0o001) !== 0;
}

/** How to start a program as the identity. */
export type Command = { file: string; args: string[]; identity: Identity };

/**
 * The command line that runs the program as the identity. Where the way to the program or to one of the
 * paths leads through a directory that only root may pass (root's home, usually), the program gets the one
 * capability that lets it pass, through `setpriv` of util-linux; otherwise it gets none.
 *
 * @throws Error naming the directory, when there is no `setpriv` or it is not allowed here
 */
export function commandAs(identity: Identity, program: string, paths: string[]): Command {
  const barrier = [dirname(program), ...paths]
    .map((path) => barrierOnTheWay(path, identity))
    .find((at) => at !== null);
  if (barrier === undefined) return { file: program, args: [], identity };
  const args = [
    `--reuid=${identity.uid}`,
    `--regid=${identity.gid}`,
    '--clear-groups',
    // Without it access(2), by which PostgreSQL finds its own files, ignores capabilities of ordinary users.
    '--securebits=+no_setuid_fixup',
    '--inh-caps=-all,+dac_read_search',
    '--ambient-caps=-all,+dac_read_search',
  ];
  try {
    execFileSync('setpriv', [...args, program, '--version'], { stdio: 'ignore' });
  } catch (error) {
    throw new Error(
      `PostgreSQL runs as uid ${identity.uid}, which may not pass ${barrier}: choose a DATA_DIR and a checkout ` +
        'outside of it, start as an ordinary user, or set DATABASE_URL',
      { cause: error },
    );
  }
  return { file: 'setpriv', args: [...args, program], identity: {} };
}
