import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { importReferrals } from '../api/referrals/import/import-referrals.ts';
import { createProgram } from '../api/referrals/programs/service.ts';
import { startEmbeddedPostgres } from '../cli/embedded/postgres.ts';
import { REFERRAL_FORMATS } from '../core/referral-imports/formats/known.ts';
import { createLogger } from '../core/tier/log.ts';
import { migrate } from '../sql/database/migrate.ts';
import { createPool, inTransaction, type Pool } from '../sql/database/pool.ts';
import { latestProgram } from '../sql/referrals/programs.ts';
import { createWorkspace } from '../sql/workspaces/workspaces.ts';
import { cpuSeconds, family } from './harness/processes.ts';
import { number, report } from './harness/report.ts';

/**
 * Measures `hoplog import referrals` of a whole program, and of the same files again.
 *
 *   node bench/import-referrals.ts [--partners 1000] [--customers 10000] [--commissions 10000] [--results FOLDER]
 *
 * Uses a temporary embedded PostgreSQL, durable as in production.
 */

const { values } = parseArgs({
  options: {
    partners: { type: 'string', default: '1000' },
    customers: { type: 'string', default: '10000' },
    commissions: { type: 'string', default: '10000' },
    results: { type: 'string', default: '' },
  },
});
const rows = {
  partners: Number(values.partners),
  customers: Number(values.customers),
  commissions: Number(values.commissions),
};
const WANTED_SECONDS = 60;

const dataDir = mkdtempSync(join(tmpdir(), 'hoplog-bench-'));
const postgres = await startEmbeddedPostgres({ dataDir, log: createLogger('bench', 'error') });
try {
  const pool = createPool(postgres.url, { max: 4 });
  await migrate(pool);
  const workspace = await createWorkspace(pool, { name: 'Bench', plan: 'unlimited' });
  await inTransaction(pool, (tx) =>
    createProgram(
      tx,
      workspace.id,
      { name: 'Bench', destination_url: 'https://shop.example/join' },
      { shortUrl: 'https://hop.example', now: new Date() },
    ),
  );
  const program = await latestProgram(pool, workspace.id);
  if (!program) throw new Error('the program was not made');
  const once = () => timedImport(pool, workspace, program);
  const first = await once();
  const again = await once();
  report(values.results, {
    name: 'import-referrals',
    title: `hoplog import referrals: ${number(rows.partners)} partners, ${number(rows.customers)} customers, ${number(rows.commissions)} unpaid commissions`,
    versions: [],
    tables: [
      {
        header: [
          '',
          'seconds',
          'wanted',
          'CPU s, command',
          'CPU s, PostgreSQL',
          'progress updates',
          'created',
        ],
        rows: [
          ['first import', ...first],
          ['the same again', ...again],
        ],
      },
    ],
  });
  await pool.end();
} finally {
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
}

async function timedImport(
  pool: Pool,
  workspace: Awaited<ReturnType<typeof createWorkspace>>,
  program: NonNullable<Awaited<ReturnType<typeof latestProgram>>>,
): Promise<string[]> {
  const format = REFERRAL_FORMATS.csv;
  if (!format) throw new Error('no format csv');
  let updates = 0;
  const before = cpu();
  const start = performance.now();
  const result = await importReferrals({
    pool,
    workspace,
    program,
    from: 'csv',
    format,
    dryRun: false,
    now: new Date(),
    by: 'operator',
    files: Object.entries(files()).map(([name, text]) => ({
      name,
      form: { delimiter: ',', firstLine: 1 },
      async *text() {
        yield text;
      },
    })),
    onProgress: () => {
      updates += 1;
    },
  });
  const seconds = (performance.now() - start) / 1_000;
  const after = cpu();
  const { partners, customers, commissions, errors, sum } = result;
  if (errors.length > 0 || sum.files !== sum.ledger)
    throw new Error(JSON.stringify({ errors, sum }, null, 1));
  return [
    number(seconds, 1),
    `under ${WANTED_SECONDS}`,
    number(after.own - before.own, 1),
    number(after.others - before.others, 1),
    number(updates),
    number(partners.created + customers.created + commissions.created),
  ];
}

/** CPU seconds of this process, and of its children. */
function cpu(): { own: number; others: number } {
  const { user, system } = process.cpuUsage();
  const others = family(process.pid).slice(1);
  return { own: (user + system) / 1e6, others: others.reduce((sum, pid) => sum + cpuSeconds(pid), 0) };
}

function files(): Record<string, string> {
  const lines = (count: number, line: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => line(index)).join('\n');
  const partner = (index: number) => index % rows.partners;
  return {
    'partners.csv': `partner_id,email,codes,coupons\n${lines(rows.partners, (n) => `${n},p${n}@mail.example,code-${n},COUPON${n}`)}`,
    'customers.csv': `customer_id,customer_email,partner_id\n${lines(rows.customers, (n) => `c-${n},c${n}@mail.example,${partner(n)}`)}`,
    'commissions.csv': `commission_id,amount,partner_id\n${lines(rows.commissions, (n) => `x-${n},9.99,${partner(n)}`)}`,
  };
}
