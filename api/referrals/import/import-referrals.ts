import { createHash } from 'node:crypto';
import { ImportErrors, type RowError } from '../../../core/link-imports/import-errors.ts';
import { type ReadRow, RowProblem, type SourceRow } from '../../../core/link-imports/source-row.ts';
import { toMajor } from '../../../core/money/money.ts';
import { fieldKey } from '../../../core/referral-imports/field-key.ts';
import { KINDS, type Kind, type ReferralFormat } from '../../../core/referral-imports/format.ts';
import {
  type CommissionRecord,
  type CustomerRecord,
  createReader,
  type PartnerRecord,
  type PartnerRef,
} from '../../../core/referral-imports/records.ts';
import { openReferralFile, type ReferralFile, unknownColumns } from '../../../core/referral-imports/rows.ts';
import { inTransaction, type Pool, type Queryable } from '../../../sql/database/pool.ts';
import { rolledBack } from '../../../sql/database/rolled-back.ts';
import { type KnownPartner, sumOfImported } from '../../../sql/referrals/imports.ts';
import { listPrograms, type Program } from '../../../sql/referrals/programs.ts';
import {
  importCommissions,
  importCustomers,
  importPartner,
} from '../../../sql/transactions/import-referrals.ts';
import type { Workspace } from '../../../sql/workspaces/workspaces.ts';
import { createPartnerDirectory } from './partner-directory.ts';

/** Rows of one kind. `skipped`: commissions without a payable amount. */
export type Counts = { read: number; created: number; existing: number; skipped: number };

export type ReferralImport = {
  dry_run: boolean;
  program_id: string;
  partners: Counts;
  customers: Counts;
  commissions: Counts;
  /** Unpaid commissions in major units: the sum in the files, and the sum of them in the ledger. */
  sum: { currency: string; files: number; ledger: number };
  /** Columns of a file that the import ignores. */
  unknown_columns: { file: string; columns: string[] }[];
  /** Codes and coupons that another referrer has. */
  notes: { file: string; line: number; message: string }[];
  errors: (RowError & { file: string })[];
};

/** A file of an import that can't be read. The message names the file. */
export class WrongReferralFile extends Error {}

export type SourceFile = {
  name: string;
  form: { delimiter: string; firstLine: number };
  /** Starts to read the file. */
  text(): AsyncIterable<string>;
};

export type ImportGiven = {
  pool: Pool;
  workspace: Workspace;
  program: Program;
  /** Name of the source, which makes ids of other systems unique. */
  from: string;
  format: ReferralFormat;
  files: readonly SourceFile[];
  dryRun: boolean;
  now: Date;
  /** Who imports, for histories. */
  by: string;
  onProgress?: (report: Readonly<ReferralImport>) => void;
};

/** Rows of a transaction. Referrers take several statements each, the others one for all. */
const BATCH: Record<Kind, number> = { partners: 50, customers: 500, commissions: 500 };

/**
 * Imports referrers, then customers, then commissions, in batches: running it again continues an interrupted import. A
 * dry run is one transaction that is rolled back; meanwhile the workspace gets no new links.
 *
 * @throws {WrongReferralFile} when a file can't be read
 */
export async function importReferrals(given: ImportGiven): Promise<ReferralImport> {
  if (!given.dryRun) return run(given, (work) => inTransaction(given.pool, work));
  return rolledBack(given.pool, (tx) => run(given, (work) => work(tx)));
}

type InBatch = <T>(work: (tx: Queryable) => Promise<T>) => Promise<T>;
type Row<T> = { row: SourceRow; record: T };

async function run(given: ImportGiven, inBatch: InBatch): Promise<ReferralImport> {
  const { workspace, program, from, format, now, by } = given;
  const { currency } = program.terms;
  const none = (): Counts => ({ read: 0, created: 0, existing: 0, skipped: 0 });
  const report: ReferralImport = {
    dry_run: given.dryRun,
    program_id: program.id,
    partners: none(),
    customers: none(),
    commissions: none(),
    sum: { currency, files: 0, ledger: 0 },
    unknown_columns: [],
    notes: [],
    errors: [],
  };
  const sums = { files: 0, ledger: 0 };
  const currencies = new Map([[program.id, currency]]);
  /** Returns the currency of a referrer's commissions. A referrer who was enrolled before may be in another program. */
  async function currencyOf(tx: Queryable, programId: string): Promise<string> {
    if (!currencies.has(programId))
      for (const one of await listPrograms(tx, workspace.id)) currencies.set(one.id, one.terms.currency);
    return currencies.get(programId) ?? currency;
  }
  const userIdOf = (id: string) => `${from}:${id}`;
  const directory = createPartnerDirectory(workspace.id, userIdOf);
  const keyOf = createKeys(from);

  async function importFile(
    { name }: SourceFile,
    { kind, rows, holdsPartners }: Pick<ReferralFile, 'kind' | 'rows' | 'holdsPartners'>,
  ): Promise<void> {
    const errors = new ImportErrors();
    const reader = createReader(format, kind);
    const counts = report[kind];
    /** Rows of a combined file are read twice, but their errors are reported once. */
    const told = new Set(
      report.errors.flatMap(({ file, line, message }) => (file === name ? [`${line} ${message}`] : [])),
    );
    const fail = (row: SourceRow | null, line: number, problem: RowProblem) => {
      if (!told.has(`${line} ${problem.message}`)) errors.add({ line }, problem, row);
    };

    /** Adds an error for each row whose referrer is unknown. Returns the others with their referrer. */
    async function withPartners<T extends Row<{ partner: PartnerRef }>>(tx: Queryable, batch: T[]) {
      const partners = await directory.find(
        tx,
        batch.map(({ record }) => record.partner),
      );
      return batch.flatMap((one, index) => {
        const partner = partners[index];
        if (partner) return [{ ...one, partner }];
        fail(one.row, one.row.line, new RowProblem(null, unknownPartner(one.record.partner)));
        return [];
      });
    }

    async function addPartners(batch: Row<PartnerRecord>[]): Promise<void> {
      const results = await inBatch(async (tx) => {
        const made = [];
        for (const { record } of batch) {
          const userId = record.userId ?? userIdOf(nameOfPartner(record.ref));
          made.push(await importPartner(tx, program, { userId, record }, { now, by }));
        }
        return made;
      });
      for (const [index, { partner, isNew, lost }] of results.entries()) {
        const one = batch[index];
        if (!one) continue;
        counts[isNew ? 'created' : 'existing'] += 1;
        directory.add(partner, one.record.ref, one.record.codes);
        for (const code of lost) {
          const message = `another referrer has the code ${code}: it keeps naming that one`;
          report.notes.push({ file: name, line: one.row.line, message });
        }
      }
    }

    async function addCustomers(batch: Row<CustomerRecord>[]): Promise<void> {
      await inBatch(async (tx) => {
        const found = await withPartners(tx, batch);
        // The first row of a user counts.
        const byUser = new Map(
          found.toReversed().map(({ record, partner }) => {
            const { userId, email, createdAt, payers } = record;
            const externalUserId = userId.of === 'product' ? userId.id : userIdOf(userId.id);
            return [externalUserId, { partner, externalUserId, email, at: createdAt ?? now, payers }];
          }),
        );
        const created = await importCustomers(tx, workspace, [...byUser.values()], now);
        counts.created += created;
        counts.existing += found.length - created;
      });
    }

    async function addCommissions(batch: (Row<CommissionRecord> & { key: string })[]): Promise<void> {
      await inBatch(async (tx) => {
        const keyed: { partner: KnownPartner; key: string; record: CommissionRecord }[] = [];
        for (const { partner, record, key, row } of await withPartners(tx, batch)) {
          const own = await currencyOf(tx, partner.program_id);
          if (own === currency) keyed.push({ partner, key, record });
          else fail(row, row.line, new RowProblem(null, inOtherCurrency(partner, own, currency)));
        }
        const created = await importCommissions(tx, program, keyed, now);
        counts.created += created;
        counts.existing += keyed.length - created;
        sums.ledger += await sumOfImported(
          tx,
          workspace.id,
          keyed.map(({ key }) => key),
        );
      });
    }

    const partners: Row<PartnerRecord>[] = [];
    const customers: Row<CustomerRecord>[] = [];
    const commissions: (Row<CommissionRecord> & { key: string })[] = [];

    async function flush(): Promise<void> {
      if (partners.length > 0) await addPartners(partners.splice(0));
      if (customers.length > 0) await addCustomers(customers.splice(0));
      if (commissions.length > 0) await addCommissions(commissions.splice(0));
      report.errors = [...done, ...errors.list.map((error) => ({ ...error, file: name }))];
      report.sum = { currency, files: toMajor(sums.files, currency), ledger: toMajor(sums.ledger, currency) };
      given.onProgress?.(report);
    }

    const done = report.errors;
    for await (const row of rows) {
      counts.read += 1;
      if ('problem' in row) {
        fail(null, row.line, row.problem);
        continue;
      }
      if (kind === 'partners') keep(partners, row, reader.partner(row));
      else if (kind === 'customers') {
        const read = reader.customer(row, holdsPartners);
        if (read === 'none') counts.read -= 1;
        else keep(customers, row, read);
      } else {
        const read = reader.commission(row, currency);
        if (read === 'over') counts.skipped += 1;
        else if (read.record === null) for (const problem of read.problems) fail(row, row.line, problem);
        else {
          sums.files += read.record.amountMinor;
          commissions.push({ row, record: read.record, key: keyOf(read.record) });
        }
      }
      if (counts.read % BATCH[kind] === 0) await flush();
    }
    await flush();

    function keep<T>(
      list: Row<T>[],
      row: SourceRow,
      read: { record: T | null; problems: readonly RowProblem[] },
    ): void {
      if (read.record !== null) list.push({ row, record: read.record });
      else for (const problem of read.problems) fail(row, row.line, problem);
    }
  }

  /** Reads a file of customers once more, for the referrers in its rows: each once. */
  async function asPartners(
    file: SourceFile,
  ): Promise<Pick<ReferralFile, 'kind' | 'rows' | 'holdsPartners'>> {
    const content = await openReferralFile(format, file.text(), file.form);
    if (content === null) throw new WrongReferralFile(`${file.name} has no rows`);
    return { kind: 'partners', holdsPartners: false, rows: firstOfEach(content.rows) };
  }

  const opened = [];
  for (const file of given.files) {
    try {
      const content = await openReferralFile(format, file.text(), file.form);
      if (content === null) throw new WrongReferralFile(`${file.name} has no rows`);
      opened.push({ file, ...content });
      const columns = unknownColumns(format, content);
      if (columns.length > 0) report.unknown_columns.push({ file: file.name, columns });
    } catch (error) {
      if (error instanceof RowProblem) throw new WrongReferralFile(`${file.name}: ${error.message}`);
      throw error;
    }
  }
  for (const kind of KINDS) {
    for (const { file, ...content } of opened) {
      if (content.kind === kind) await importFile(file, content);
      else if (kind === 'partners' && content.holdsPartners) await importFile(file, await asPartners(file));
    }
  }
  return report;
}

/** Yields the rows of a combined file, without those of a referrer who was in an earlier row. */
async function* firstOfEach(rows: AsyncIterable<ReadRow>): AsyncGenerator<ReadRow> {
  const seen = new Set<string>();
  for await (const row of rows) {
    if ('problem' in row) {
      yield row;
      continue;
    }
    const values = Object.entries(row.values).map(([name, value]) => [fieldKey(name), String(value).trim()]);
    const { email = '', token = '' } = Object.fromEntries(values) as Record<string, string>;
    const key = JSON.stringify([email.toLowerCase(), token]);
    if (!seen.has(key)) yield row;
    seen.add(key);
  }
}

const hash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32);

/** Returns the name of a referrer without an id. An email is hashed, because ids outlive an erasure. */
function nameOfPartner({ id, email, code }: PartnerRef): string {
  return id ?? (email === null ? String(code) : `email-${hash(email)}`);
}

const inOtherCurrency = ({ external_user_id: user }: KnownPartner, own: string, currency: string) =>
  `referrer ${user} is in a program that pays ${own}: a commission in ${currency} can not be theirs`;

function unknownPartner({ id, email, code }: PartnerRef): string {
  const name = id ?? email ?? code;
  return `no referrer of the workspace is ${name}: import the file of partners first, or together with this one`;
}

/** Returns ids of commissions in their source. Equal commissions without an id are distinguished by their order. */
function createKeys(from: string): (record: CommissionRecord) => string {
  const seen = new Map<string, number>();
  return ({ id, partner, amountMinor, currency, createdAt }) => {
    if (id !== null) return `${from}:${id}`;
    const name = [
      partner.id ?? partner.email ?? partner.code,
      amountMinor,
      currency,
      createdAt?.getTime(),
    ].join('/');
    const nth = seen.get(name) ?? 0;
    seen.set(name, nth + 1);
    return `${from}:row-${hash(`${name}/${nth}`)}`;
  };
}
