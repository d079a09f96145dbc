import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../deploy/compose-file.ts';
import { localCaddyfile } from '../support/caddy.ts';

const run = promisify(execFile);
const MAX_BUFFER = 64 * 2 ** 20;

/** Options of Compose for commands that concern Caddy. */
export const CADDY = ['--profile', 'caddy'];
const ALL_PROFILES = [...CADDY, '--profile', 'ha'];

/** `docker-compose.yml` on the engine of `run.sh`, and commands about it. */
export type Deployment = ReturnType<typeof createDeployment>;

/** Creates the settings of a deployment; `down` starts and ends it. */
export function createDeployment() {
  /** Vitest sets a `BASE_URL` of its own, which Compose would use as a setting. */
  const { BASE_URL: _, ...environment } = process.env;
  const directory = mkdtempSync(join(tmpdir(), 'hoplog-containers-'));
  const files = (environment.COMPOSE_FILE ?? 'docker-compose.yml').split(':').map((file) => join(ROOT, file));
  environment.COMPOSE_FILE = files.join(':');
  environment.SECRETS_DIR = makeSecrets(directory);

  async function docker(words: string[], settings: NodeJS.ProcessEnv = {}): Promise<string> {
    const env = { ...environment, ...settings };
    const { stdout } = await run('docker', words, { cwd: ROOT, env, maxBuffer: MAX_BUFFER });
    return stdout.trim();
  }
  const compose = (...words: string[]) => docker(['compose', '--progress', 'quiet', ...words]);

  return {
    docker,
    compose,
    /** Returns the id of a service's container. A recreated container has another one. */
    containerOf: (service: string) => docker(['compose', 'ps', '--quiet', service]),
    /**
     * Runs commands of a guide as an operator would. `$name` is a backup's name, in the directory of this deployment.
     *
     * @returns their output
     */
    async shell(commands: string): Promise<string> {
      const env = { ...environment, name: 'backup' };
      const words = ['-euo', 'pipefail', '-c', commands];
      const { stdout } = await run('bash', words, { cwd: directory, maxBuffer: MAX_BUFFER, env });
      return stdout;
    },
    /** Makes the next `docker compose build` build another image, as a new version would. */
    changeImage: () => override({ migrate: { build: { labels: { new: 'version' } } } }),
    /** Lets Caddy issue its certificates itself: a public authority can't reach this machine. */
    setLocalAuthority() {
      const caddyfile = join(directory, 'Caddyfile');
      writeFileSync(caddyfile, localCaddyfile());
      override({ caddy: { volumes: [`${caddyfile}:/etc/caddy/Caddyfile:ro`] } });
    },
    setShippedFile,
    /** Sets variables of the Compose file, as in its file of settings. */
    set: (settings: Record<string, string>) => void Object.assign(environment, settings),
    /** Removes its containers and volumes. */
    async down() {
      setShippedFile();
      await compose(...ALL_PROFILES, 'down', '--volumes', '--remove-orphans');
    },
    removeFiles: () => rmSync(directory, { recursive: true, force: true }),
  };

  function setShippedFile(): void {
    environment.COMPOSE_FILE = files.join(':');
  }

  function override(services: object): void {
    const file = join(directory, 'override.yml');
    writeFileSync(file, JSON.stringify({ services }));
    environment.COMPOSE_FILE = [...files, file].join(':');
  }
}

/** Makes passwords with characters that URLs and shells treat specially. @returns their directory */
function makeSecrets(directory: string): string {
  const secrets = join(directory, 'secrets');
  mkdirSync(secrets);
  for (const name of ['postgres', 'postgres-service', 'clickhouse', 'grafana']) {
    const file = join(secrets, `${name}-password`);
    writeFileSync(file, `${name} of/our:own@%20"$HOME'#?\n`);
    chmodSync(file, 0o444);
  }
  return secrets;
}
