import { chmodSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { writePrivate } from '../embedded/secret-file.ts';
import { CommandFailed, WrongUsage } from '../output.ts';

/** Where the commands of users call, and with which key. */
export type Login = { url: string; key: string };

/** Returns the file with the login of `hoplog login` (mode 0600). */
export function loginFile(): string {
  const { XDG_CONFIG_HOME: given } = process.env;
  return join(given?.startsWith('/') ? given : join(homedir(), '.config'), 'hoplog', 'login.json');
}

/**
 * Returns the login of the environment (`HOPLOG_URL`, `HOPLOG_KEY`), completed with the stored one.
 *
 * Hazard: the stored key goes to no other address than that of its login.
 *
 * @throws {CommandFailed} when there is none
 */
export function currentLogin(): Login {
  const { HOPLOG_URL: url, HOPLOG_KEY: key } = process.env;
  const named = url ? serviceUrl(url, 'HOPLOG_URL') : undefined;
  if (named && key) return { url: named, key };
  const stored = storedLogin();
  if (stored === null) {
    const missing = key ? 'HOPLOG_URL' : named ? 'HOPLOG_KEY' : 'HOPLOG_URL and HOPLOG_KEY';
    throw new CommandFailed(`no login: run "hoplog login --url https://...", or set ${missing}`);
  }
  if (named && named !== stored.url) {
    throw new CommandFailed(
      `HOPLOG_URL is ${named}, and the stored key is for ${stored.url}: set HOPLOG_KEY too, or run "hoplog login --url ${named}"`,
    );
  }
  return { url: stored.url, key: key || stored.key };
}

/** Returns the stored login; null without one. @throws {CommandFailed} when its file is damaged */
export function storedLogin(): Login | null {
  const path = loginFile();
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new CommandFailed(`cannot read ${path}: ${(error as Error).message}`);
  }
  try {
    const { url, key } = JSON.parse(text) as Partial<Login>;
    if (typeof url === 'string' && typeof key === 'string') return { url, key };
  } catch {
    // Says the same as a file with other content.
  }
  throw new CommandFailed(`${path} is not a login: run "hoplog login" again`);
}

/** Stores the login for later commands of this user. Returns its file. */
export function storeLogin(login: Login): string {
  const path = loginFile();
  const folder = join(path, '..');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  writePrivate(path, `${JSON.stringify(login, null, 2)}\n`);
  return path;
}

/** Removes the stored login. Returns whether there was one. */
export function removeLogin(): boolean {
  const wasStored = storedText();
  rmSync(loginFile(), { force: true });
  return wasStored;
}

function storedText(): boolean {
  try {
    readFileSync(loginFile());
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns an address of the service without `/api/v1` and without a slash at its end.
 *
 * @param name what has the address, for the error
 * @throws {CommandFailed} when it is not one; {WrongUsage} when an option has it
 */
export function serviceUrl(text: string, name: string): string {
  const url = URL.parse(text.trim());
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '') {
    const message = `${name} must be the address of the API, such as https://hoplog.example`;
    throw name.startsWith('--') ? new WrongUsage(message) : new CommandFailed(message);
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
}
