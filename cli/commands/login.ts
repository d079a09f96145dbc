import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { HoplogError } from '../../sdk/typescript/src/errors.ts';
import { CommandFailed, printResult, table, WrongUsage } from '../output.ts';
import { userClient } from '../user/client.ts';
import { currentLogin, loginFile, removeLogin, serviceUrl, storedLogin, storeLogin } from '../user/login.ts';

const LOCAL = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** `hoplog login | logout | whoami`. */
export function loginCommands(program: Command): void {
  program
    .command('login')
    .description('store the address of a service and a secret key, for the commands below')
    .option('--url <url>', 'address of the API; HOPLOG_URL by default, else that of the last login')
    .addHelpText('after', '\nThe key is read from standard input: echo $KEY | hoplog login --url https://...')
    .action(async (options: { url?: string }, command: Command) => {
      const url = urlOf(options.url);
      if (url.startsWith('http:') && !LOCAL.test(new URL(url).hostname)) {
        process.stderr.write(`hoplog: ${url} has no TLS: others on the way can read the key\n`);
      }
      const key = (await readKey(url)).trim();
      if (!/^lk_\w+$/.test(key)) throw new CommandFailed('the key must be a secret key, lk_live_...');
      const me = await userClient({ url, key })
        .me.get()
        .catch((error: unknown) => {
          if (!(error instanceof HoplogError) || error.status !== 401) throw error;
          throw new CommandFailed(`${url} refuses the key: ${error.message}`);
        });
      const file = storeLogin({ url, key });
      const result = { url, workspace: me.workspace.name, key: me.key.label, file };
      printResult(
        command,
        result,
        (stored) =>
          `${stored.url}: workspace ${stored.workspace}, key ${stored.key}\nstored in ${stored.file}`,
      );
    });

  program
    .command('logout')
    .description('remove the stored key; it stays valid until it is revoked')
    .action((_options: object, command: Command) => {
      const result = { file: loginFile(), removed: removeLogin() };
      printResult(command, result, ({ file, removed }) =>
        removed ? `removed ${file}` : 'no key was stored',
      );
    });

  program
    .command('whoami')
    .description('show the workspace, its plan, and the key of the login')
    .action(async (_options: object, command: Command) => {
      const login = currentLogin();
      const me = await userClient(login).me.get();
      printResult(command, { url: login.url, ...me }, ({ workspace, plan, key }) =>
        table(
          ['service', login.url],
          [
            ['workspace', `${workspace.name} (${workspace.id})`],
            ['plan', `${plan.tier}, ${plan.status}`],
            ['key', `${key.label}, ${key.scopes.join(', ')}`],
            ['expires', key.expires_at ?? 'never'],
          ],
        ),
      );
    });
}

function urlOf(given: string | undefined): string {
  if (given !== undefined) return serviceUrl(given, '--url');
  if (process.env.HOPLOG_URL) return serviceUrl(process.env.HOPLOG_URL, 'HOPLOG_URL');
  const stored = storedLogin();
  if (stored !== null) return stored.url;
  throw new WrongUsage('--url must be the address of the API, such as https://hoplog.example');
}

/** Asks for the key on a terminal, without showing it; else reads standard input. */
async function readKey(url: string): Promise<string> {
  const { stdin, stderr } = process;
  if (!stdin.isTTY) return text(stdin);
  stderr.write(`Secret key of ${url}: `);
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: hidden, terminal: true });
  const ended = new Promise<never>((_, reject) => {
    lines.once('SIGINT', () => reject(new CommandFailed('no key was given')));
    lines.once('close', () => reject(new CommandFailed('no key was given')));
  });
  try {
    return await Promise.race([lines.question(''), ended]);
  } finally {
    lines.close();
    stderr.write('\n');
  }
}
