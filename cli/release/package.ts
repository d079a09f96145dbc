import { chmod, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleOf, IMPORTS_FILE, type Imports, ROOT_DIR } from '../programs/programs.ts';

/** Files that the command reads besides its bundle, and files that a package must contain. */
const FILES = ['sql/migrations', 'clickhouse/migrations', 'core/events/schemas', 'LICENSE', 'NOTICE'];
/** Loaded by name: pretty logs on a terminal. */
const FOUND_BY_NAME = ['pino', 'pino-pretty'];
/** Optional: `pg` loads its native client only on request. */
const NOT_NEEDED = 'pg-native';

type Manifest = {
  name: string;
  version: string;
  keywords: string[];
  repository: object;
  license: string;
  dependencies: Record<string, string>;
};

/**
 * Writes the npm package of the command `hoplog` to a new directory: its bundle, the files that it reads, and a
 * `package.json` with only the packages that it imports. The checkout itself is not published, because it would include
 * the embedded databases.
 *
 * @throws Error when the bundle imports a package that `package.json` does not name
 */
export async function writePackage(target: string): Promise<void> {
  await rm(target, { recursive: true, force: true });
  await mkdir(join(target, 'dist'), { recursive: true });
  await cp(bundleOf('hoplog'), join(target, 'dist/hoplog.js'));
  await chmod(join(target, 'dist/hoplog.js'), 0o755);
  for (const file of FILES) await cp(join(ROOT_DIR, file), join(target, file), { recursive: true });
  const root = JSON.parse(await readFile(join(ROOT_DIR, 'package.json'), 'utf8')) as Manifest;
  const imports = JSON.parse(await readFile(IMPORTS_FILE, 'utf8')) as Imports;
  await writeFile(
    join(target, 'package.json'),
    `${JSON.stringify(manifest(root, imports.hoplog), null, 2)}\n`,
  );
  await writeFile(join(target, 'README.md'), README);
}

function manifest(
  { name, version, keywords, repository, license, dependencies }: Manifest,
  imports: string[],
) {
  const needed = [...imports.filter((one) => one !== NOT_NEEDED), ...FOUND_BY_NAME];
  return {
    name,
    version,
    description:
      'The command of Hoplog: links, clicks, and figures of a workspace, and the operation of a service.',
    keywords,
    repository,
    license,
    type: 'module',
    engines: { node: '>=22.13' },
    bin: { hoplog: 'dist/hoplog.js' },
    files: ['dist', ...FILES],
    dependencies: Object.fromEntries(
      needed.map((one) => {
        const wanted = dependencies[one];
        if (wanted === undefined)
          throw new Error(`dist/hoplog.js imports ${one}, which package.json does not name`);
        return [one, wanted];
      }),
    ),
  };
}

const README = `# hoplog

The command of [Hoplog](https://github.com/hoplog/hoplog). It needs Node.js 22.

With the address of a service and a secret key it works on links, clicks, and figures of a workspace
([guide](https://github.com/hoplog/hoplog/blob/main/docs/command-line.md)):

\`\`\`sh
npm install --global hoplog
hoplog login --url https://hoplog.example
hoplog query --by country
\`\`\`

With the addresses of the databases, in \`DATABASE_URL\` and \`CLICKHOUSE_URL\`, it operates a service:

\`\`\`sh
hoplog status
hoplog --help
\`\`\`

The service is not in this package: run the container image, the Helm chart, or \`npm start\` in a checkout.
`;
