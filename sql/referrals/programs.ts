import { uuidv7 } from '../../core/ids.ts';
import type { Portal } from '../../core/referrals/portal.ts';
import type { PayoutMethod, ProgramStatus, Review, SignupSource, Terms } from '../../core/referrals/terms.ts';
import type { Queryable } from '../database/pool.ts';

/** A program with its campaign's name and destination. */
export type Program = {
  /** Also the id of the program's code link. */
  id: string;
  workspace_id: string;
  destination_id: string;
  name: string;
  code: string;
  destination_url: string;
  terms: Terms;
  allow_affiliate_upgrade: boolean;
  payout_methods: PayoutMethod[];
  min_payout_minor: number;
  /** Whether a full refund revokes undelivered credits of its order. */
  revoke_credits_on_refund: boolean;
  /** Query parameters of pages that name a referrer. */
  link_parameters: string[];
  portal: Portal;
  created_at: Date;
  updated_at: Date;
};

type Row = Omit<Program, 'terms'> & {
  status: ProgramStatus;
  credit_enabled: boolean;
  credit_kind: string;
  signup_credit_free: number;
  signup_credit_paid: number;
  purchase_credit: number;
  referee_credit: number;
  commission_type: Terms['commissionType'];
  commission_rate: string;
  levels: string[];
  first_sale_only: boolean;
  commission_months: number | null;
  hold_days: number;
  currency: string;
  signups_from: SignupSource;
  max_signups_per_day: number | null;
  review: Review;
};

const SELECT = `SELECT p.id, p.workspace_id, p.destination_id, d.name, p.code, d.destination_url, p.status,
    p.credit_enabled, p.credit_kind, p.signup_credit_free, p.signup_credit_paid, p.purchase_credit,
    p.referee_credit, p.commission_type, p.commission_rate, p.levels::text[] AS levels, p.first_sale_only,
    p.commission_months, p.hold_days, p.allow_affiliate_upgrade, p.payout_methods, p.min_payout_minor,
    p.revoke_credits_on_refund, p.link_parameters, p.currency, p.signups_from, p.max_signups_per_day, p.review, p.portal,
    p.created_at, p.updated_at
  FROM programs p JOIN destinations d ON d.id = p.destination_id`;

/** The settings that decide what a program promises and pays. */
export type ProgramSettings = Pick<
  Program,
  | 'code'
  | 'allow_affiliate_upgrade'
  | 'payout_methods'
  | 'min_payout_minor'
  | 'revoke_credits_on_refund'
  | 'link_parameters'
  | 'portal'
> & { terms: Terms };

/** A new program's id. */
export const newProgramId = uuidv7;

/** Creates a program on a campaign of its own. The caller has claimed its code. */
export async function insertProgram(
  tx: Queryable,
  given: ProgramSettings & { id: string; workspaceId: string; destinationId: string; now: Date },
): Promise<void> {
  await tx.query(
    `INSERT INTO programs (id, workspace_id, destination_id, created_at, updated_at, ${SETTING_COLUMNS})
     VALUES ($1, $2, $3, $4, $4, ${SETTING_COLUMNS.split(',').map((_, index) => `$${index + 5}`)})`,
    [given.id, given.workspaceId, given.destinationId, given.now, ...settingValues(given)],
  );
}

/** Changes the settings of a program, for events from now on. */
export async function updateProgram(
  tx: Queryable,
  workspaceId: string,
  id: string,
  settings: ProgramSettings,
  now: Date,
): Promise<void> {
  const assignments = SETTING_COLUMNS.split(',').map((name, index) => `${name} = $${index + 4}`);
  await tx.query(
    `UPDATE programs SET updated_at = $3, ${assignments.join(', ')} WHERE id = $1 AND workspace_id = $2`,
    [id, workspaceId, now, ...settingValues(settings)],
  );
}

const SETTING_COLUMNS = `code,status,credit_enabled,credit_kind,signup_credit_free,signup_credit_paid,purchase_credit,
  referee_credit,commission_type,commission_rate,levels,first_sale_only,commission_months,hold_days,
  allow_affiliate_upgrade,payout_methods,min_payout_minor,revoke_credits_on_refund,currency,signups_from,
  max_signups_per_day,review,link_parameters,portal`;

/** Returns values in the order of {@link SETTING_COLUMNS}. */
function settingValues({ terms, ...settings }: ProgramSettings): unknown[] {
  return [
    settings.code,
    terms.status,
    terms.creditEnabled,
    terms.creditKind,
    terms.signupCredit.free,
    terms.signupCredit.paid,
    terms.purchaseCredit,
    terms.refereeCredit,
    terms.commissionType,
    terms.commissionRate,
    terms.levels,
    terms.firstSaleOnly,
    terms.commissionMonths,
    terms.holdDays,
    settings.allow_affiliate_upgrade,
    settings.payout_methods,
    settings.min_payout_minor,
    settings.revoke_credits_on_refund,
    terms.currency,
    terms.signupsFrom,
    terms.maxSignupsPerDay,
    terms.review,
    settings.link_parameters,
    JSON.stringify(settings.portal),
  ];
}

/** Returns the programs of a workspace, newest first. */
export async function listPrograms(db: Queryable, workspaceId: string): Promise<Program[]> {
  const { rows } = await db.query<Row>(
    `${SELECT} WHERE p.workspace_id = $1 ORDER BY p.created_at DESC, p.id DESC`,
    [workspaceId],
  );
  return rows.map(programOf);
}

/** Returns the program with this id in the workspace, or null. */
export async function programById(db: Queryable, workspaceId: string, id: string): Promise<Program | null> {
  const { rows } = await db.query<Row>(`${SELECT} WHERE p.workspace_id = $1 AND p.id = $2`, [
    workspaceId,
    id,
  ]);
  return rows[0] ? programOf(rows[0]) : null;
}

/**
 * Returns the program under a key-share lock, which keeps its currency until the transaction ends. Its other terms
 * may change: purchases and changes of terms don't wait for each other.
 *
 * @throws Error when the workspace has none
 */
export async function lockProgramShared(tx: Queryable, workspaceId: string, id: string): Promise<Program> {
  const { rows } = await tx.query<Row>(
    `${SELECT} WHERE p.workspace_id = $1 AND p.id = $2 FOR KEY SHARE OF p`,
    [workspaceId, id],
  );
  if (!rows[0]) throw new Error(`program ${id} does not exist`);
  return programOf(rows[0]);
}

/** Returns the program as it is now, locked until the transaction ends, or null. */
export async function lockProgram(tx: Queryable, workspaceId: string, id: string): Promise<Program | null> {
  const { rows } = await tx.query<Row>(
    `${SELECT} WHERE p.workspace_id = $1 AND p.id = $2 FOR NO KEY UPDATE OF p, d`,
    [workspaceId, id],
  );
  return rows[0] ? programOf(rows[0]) : null;
}

/**
 * Returns the program once no transaction that earns one of its rewards is open, or null. Such transactions wait until
 * this one ends: their rewards refer to the program.
 */
export async function holdProgram(tx: Queryable, workspaceId: string, id: string): Promise<Program | null> {
  await tx.query('SELECT FROM programs WHERE workspace_id = $1 AND id = $2 FOR UPDATE', [workspaceId, id]);
  return programById(tx, workspaceId, id);
}

/** Returns the program whose campaign this is, or null. */
export async function programOfDestination(
  db: Queryable,
  workspaceId: string,
  destinationId: string,
): Promise<Program | null> {
  const { rows } = await db.query<Row>(`${SELECT} WHERE p.workspace_id = $1 AND p.destination_id = $2`, [
    workspaceId,
    destinationId,
  ]);
  return rows[0] ? programOf(rows[0]) : null;
}

/** Changes a program's code. The caller has claimed the code, and updates the code link. */
export async function updateProgramCode(
  tx: Queryable,
  workspaceId: string,
  id: string,
  code: string,
): Promise<void> {
  await tx.query(
    `UPDATE programs SET code = $3, updated_at = clock_timestamp()
     WHERE id = $1 AND workspace_id = $2 AND code <> $3`,
    [id, workspaceId, code],
  );
}

/** Returns the most recent program, whatever its status, or null. */
export async function latestProgram(db: Queryable, workspaceId: string): Promise<Program | null> {
  const { rows } = await db.query<Row>(
    `${SELECT} WHERE p.workspace_id = $1 ORDER BY p.created_at DESC, p.id DESC LIMIT 1`,
    [workspaceId],
  );
  return rows[0] ? programOf(rows[0]) : null;
}

/**
 * Returns whether the program, or a referrer in it, has any commission. Waits for purchases that are being qualified by
 * its terms ({@link lockProgramShared}), and blocks new ones until the transaction ends.
 */
export async function programHasCommissions(tx: Queryable, id: string): Promise<boolean> {
  await tx.query('SELECT FROM programs WHERE id = $1 FOR UPDATE', [id]);
  // A statement of its own, after the lock: it must see what those purchases wrote.
  const { rows } = await tx.query<{ found: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM commissions WHERE program_id = $1) OR EXISTS (
       SELECT 1 FROM commissions c JOIN enrollments e ON e.id = c.enrollment_id WHERE e.program_id = $1) AS found`,
    [id],
  );
  return rows[0]?.found === true;
}

function programOf(row: Row): Program {
  return {
    id: row.id,
    workspace_id: row.workspace_id,
    destination_id: row.destination_id,
    name: row.name,
    code: row.code,
    destination_url: row.destination_url,
    terms: {
      status: row.status,
      creditEnabled: row.credit_enabled,
      creditKind: row.credit_kind,
      signupCredit: { free: row.signup_credit_free, paid: row.signup_credit_paid },
      purchaseCredit: row.purchase_credit,
      refereeCredit: row.referee_credit,
      commissionType: row.commission_type,
      commissionRate: Number(row.commission_rate),
      levels: row.levels.map(Number),
      firstSaleOnly: row.first_sale_only,
      commissionMonths: row.commission_months,
      holdDays: row.hold_days,
      currency: row.currency,
      signupsFrom: row.signups_from,
      maxSignupsPerDay: row.max_signups_per_day,
      review: row.review,
    },
    allow_affiliate_upgrade: row.allow_affiliate_upgrade,
    payout_methods: row.payout_methods,
    min_payout_minor: row.min_payout_minor,
    revoke_credits_on_refund: row.revoke_credits_on_refund,
    link_parameters: row.link_parameters,
    portal: row.portal,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}
