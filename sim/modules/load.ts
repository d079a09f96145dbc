import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

/** Modules of Node.js that the product gets from the simulated world. The simulator itself keeps the real ones. */
const REPLACED: Readonly<Record<string, string>> = {
  'node:crypto': 'crypto.ts',
  'node:fs': 'fs.ts',
  'node:fs/promises': 'fs-promises.ts',
  'node:os': 'os.ts',
  'node:perf_hooks': 'perf-hooks.ts',
  'node:sqlite': 'sqlite.ts',
  'node:timers/promises': 'timers-promises.ts',
};

/** Files of the product that have a stand-in: SQL that is played on tables in memory, and sockets. */
const STAND_INS: readonly { imported: RegExp; from: RegExp; by: string }[] = [
  {
    imported: /\/sql\/links\/leases\.ts$/,
    from: /\/(core|ingest|workers|sql)\//,
    by: '../permits/leases.ts',
  },
  {
    imported: /\/client\.ts$/,
    from: /\/core\/connections\/stripe\/|\/workers\/fulfilments\/stripe/,
    by: '../credits/stripe-client.ts',
  },
  { imported: /^\.\/send\.ts$/, from: /\/workers\/webhooks\//, by: '../webhooks/send.ts' },
];

/** Resources of the API that no client here calls: an API process starts with each kill, and most of it is routes. */
const ROUTES = { from: /\/api\/app\.ts$/, imported: /^\.\/([\w/-]*routes)\.ts$/ };
const CALLED =
  /^(referrals\/(commissions|credits|enrollments|groups|payouts|programs|purchases|signups)\/routes|referrals\/routes)$/;
const WITHOUT_ROUTES = 'without-routes';

const PRODUCT = /^file:.*\/(core|ingest|workers|api|sql|clickhouse)\/[^?]*\.ts$/;
/** The API reads its pages and documents from the real disk, once, when it starts. */
const ON_REAL_DISK = /^file:.*\/api\/[^?]*\.ts$/;
const OF_DISK = /^node:(fs|fs\/promises|os|sqlite)$/;
const NOT_PRODUCT = /\/node_modules\//;

/** A change of one place in a file of the product: a wrong version. */
export type Edit = {
  /** Path from the root of the repository. */
  file: string;
  from: string;
  to: string;
};

/**
 * Lets the product's files import the simulated world in place of Node.js. They are otherwise the files that are
 * shipped, so nothing on the way of a click has a layer for the simulator's sake.
 *
 * @param edit plants a wrong version
 */
export function simulateModules(edit: Edit | null): void {
  registerHooks({
    resolve(specifier, context, next) {
      const replacement = REPLACED[specifier];
      const { parentURL = '' } = context;
      const isReal = OF_DISK.test(specifier) && ON_REAL_DISK.test(parentURL);
      if (replacement && !isReal && PRODUCT.test(parentURL) && !NOT_PRODUCT.test(parentURL)) {
        return { url: new URL(replacement, import.meta.url).href, shortCircuit: true };
      }
      const standIn = STAND_INS.find(
        ({ imported, from }) => imported.test(specifier) && from.test(parentURL),
      );
      if (standIn && PRODUCT.test(parentURL)) {
        return { url: new URL(standIn.by, import.meta.url).href, shortCircuit: true };
      }
      const routes = ROUTES.from.test(parentURL) ? ROUTES.imported.exec(specifier)?.[1] : undefined;
      const resolved = next(specifier, context);
      if (routes === undefined || CALLED.test(routes)) return resolved;
      return { ...resolved, url: `${resolved.url}?${WITHOUT_ROUTES}` };
    },
    load(url, context, next) {
      if (url.endsWith(`?${WITHOUT_ROUTES}`)) return withoutRoutes(fileURLToPath(url));
      const loaded = next(url, context);
      if (!edit || !url.startsWith('file:') || !fileURLToPath(url).endsWith(`/${edit.file}`)) return loaded;
      const source = String(loaded.source);
      if (source.split(edit.from).length !== 2)
        throw new Error(`${edit.file} has not one ${JSON.stringify(edit.from)}`);
      return { ...loaded, source: source.replace(edit.from, () => edit.to) };
    },
  });
}

/** Returns the module of a file with the same functions, which register no route. */
function withoutRoutes(path: string): { format: 'module'; source: string; shortCircuit: true } {
  const names = readFileSync(path, 'utf8').matchAll(/^export (?:async )?(?:function|const) (\w+)/gm);
  const source = [...names].map(([, name]) => `export async function ${name}() {}`).join('\n');
  return { format: 'module', source, shortCircuit: true };
}
