import { lchownSync, lstatSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, ConfigError, readConfig } from '../../core/settings/config.ts';
import { withSecretValues } from '../../core/settings/secret-files.ts';
import { makeDataDir } from './data-dir.ts';
import { type Command, commandAs, type Identity, serviceIdentity } from './unprivileged.ts';

/** Thrown when this process of root cannot become an ordinary user; the message needs no stack trace. */
export class RootNotLeft extends Error {
  override name = 'RootNotLeft';
}

/** Entries of DATA_DIR that Hoplog creates. */
const OWN = /^(journal|ingest|run|postgres(\..*)?|clickhouse|backup\.tmp|restore\.(tmp|incomplete))$/;
/** Entries of a volume's file system. */
const FOREIGN = new Set(['lost+found']);
/** Ports below it need a capability. */
const FIRST_FREE_PORT = 1_024;

/**
 * Replaces this process by the same program as an ordinary user, if root started it. It gives DATA_DIR to the user, and
 * keeps process id, arguments, and outputs. Returns at once for any other user.
 *
 * @throws {ConfigError} when a setting is wrong, or DATA_DIR has files that Hoplog did not make
 * @throws {RootNotLeft} when this process cannot become the user
 */
export function leaveRoot(): void {
  if (process.getuid?.() !== 0) return;
  const config = readConfig(process.env);
  makeDataDir(config.dataDir);
  const identity = serviceIdentity(config.dataDir);
  giveDataDir(config.dataDir, identity);
  const program = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const { file, args } = command(identity, config);
  // Possibly only root can read the files of settings and secrets.
  const env = { ...withSecretValues(process.env), DATA_DIR: config.dataDir, ENV_FILE: '' };
  if (file !== process.execPath) process.execve?.(pathOf(file), [file, ...args, ...program.slice(1)], env);
  become(identity);
  process.execve?.(process.execPath, program, env);
}

function command(identity: Identity, { dataDir, apiPort, ingestPort, metricsPort }: Config): Command {
  try {
    return commandAs(identity, process.execPath, [process.argv[1] ?? '', dataDir], {
      bindsLowPort: [apiPort, ingestPort, metricsPort].some(isLow),
    });
  } catch (error) {
    throw new RootNotLeft((error as Error).message, { cause: error });
  }
}

const isLow = (port: number) => port > 0 && port < FIRST_FREE_PORT;

function become({ uid = 0, gid = 0 }: Identity): void {
  try {
    process.setgroups?.([]);
    process.setgid?.(gid);
    process.setuid?.(uid);
  } catch (error) {
    throw new RootNotLeft(`root cannot become the user ${uid}: start as an ordinary user`, { cause: error });
  }
}

/** `execve` does not search PATH. */
function pathOf(file: string): string {
  const found = (process.env.PATH ?? '').split(':').find((directory) => isFile(join(directory, file)));
  return join(found ?? '/usr/bin', file);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/**
 * Gives the directory and everything in it that Hoplog created to a user. Does not follow symbolic links. A directory
 * changes its owner after its content, so that the next run completes an interrupted one.
 */
function giveDataDir(dataDir: Config['dataDir'], { uid = 0, gid = 0 }: Identity): void {
  const names = readdirSync(dataDir);
  const other = names.find((name) => !OWN.test(name) && !FOREIGN.has(name));
  if (other !== undefined && lstatSync(dataDir).uid === 0) {
    throw new ConfigError(
      'DATA_DIR',
      dataDir,
      `must be a directory of Hoplog alone when root starts it, because the directory is given to an ordinary user: it has ${other}`,
    );
  }
  const give = (path: string) => {
    const stat = lstatSync(path);
    if (stat.isDirectory()) for (const name of readdirSync(path)) give(join(path, name));
    if (stat.uid !== uid || stat.gid !== gid) lchownSync(path, uid, gid);
  };
  try {
    for (const name of names) if (OWN.test(name)) give(join(dataDir, name));
    const { uid: owner } = lstatSync(dataDir);
    if (owner !== uid) lchownSync(dataDir, uid, gid);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // The start on a read-only disk ends later, with a better reason.
    if (code === 'EROFS') return;
    throw new ConfigError('DATA_DIR', dataDir, `cannot be given to the user ${uid} (${code})`);
  }
}
