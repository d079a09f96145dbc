import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { AppError } from '../../core/errors.ts';
import { logoUrl, readLogo } from '../../core/qr/logo.ts';
import { TRACKINGS, type Tracking } from '../../core/tracking/tracking.ts';
import { inTransaction, type Queryable } from '../../sql/database/pool.ts';
import { chooseDefaultDomain } from '../../sql/domains/domains.ts';
import { createKey } from '../../sql/workspaces/keys.ts';
import { setWorkspaceLogo } from '../../sql/workspaces/logos.ts';
import {
  ATTRIBUTION_MODELS,
  type AttributionModel,
  createWorkspace,
  findWorkspace,
  hasOrders,
  IDENTITY_VERIFICATIONS,
  type IdentityVerification,
  listWorkspaces,
  lockWorkspace,
  MOST_PAYOUT_HOLD_DAYS,
  MOST_RETENTION_MONTHS,
  PLAN_STATUSES,
  PLANS,
  type Plan,
  type PlanStatus,
  suspendWorkspace,
  updateWorkspace,
  type Workspace,
} from '../../sql/workspaces/workspaces.ts';
import { allowedOrigins, currency, domain, name, timeZone, wholeNumber } from '../arguments.ts';
import { printResult, table } from '../output.ts';
import { recordOperator } from '../record-operator.ts';
import { withStores } from '../stores.ts';

/** Returns the workspace with this id or slug. @throws {AppError} when none exists */
export async function namedWorkspace(db: Queryable, idOrSlug: string): Promise<Workspace> {
  const workspace = await findWorkspace(db, idOrSlug);
  if (!workspace)
    throw new AppError('not_found', `no workspace has the id or slug ${JSON.stringify(idOrSlug)}`);
  return workspace;
}

type CreateOptions = { name: string; plan: Plan; domain?: string };
type SetOptions = {
  workspace: string;
  plan?: Plan;
  status?: PlanStatus;
  attributionModel?: AttributionModel;
  attributionWindow?: number;
  domain?: string;
  currency?: string;
  identityVerification?: IdentityVerification;
  payoutHoldDays?: number;
  allowedOrigins?: string[];
  timeZone?: string;
  tracking?: Tracking;
  retentionMonths?: number | null;
  /** A PNG; null removes it. */
  logo?: Buffer | null;
  defaultDomain?: string;
};

const describe = (workspace: Workspace) =>
  table(
    ['id', 'slug', 'plan', 'status', 'domain', 'currency', 'attribution', 'suspended'],
    [
      [
        workspace.id,
        workspace.slug,
        workspace.plan,
        workspace.plan_status,
        workspace.primary_domain ?? '-',
        workspace.currency,
        `${workspace.attribution_model} ${workspace.attribution_window} d`,
        workspace.suspended_at?.toISOString() ?? '-',
      ],
    ],
  );

function retention(text: string): number | null {
  return text === 'forever' ? null : wholeNumber(1, MOST_RETENTION_MONTHS)(text);
}

/** Reads the file of a logo. */
function logoIn(path: string): Buffer | null {
  if (path === 'none') return null;
  try {
    return readLogo(logoUrl(readFileSync(path)));
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}

/** @param host `none`: the deployment's own; undefined: no change */
async function chooseDomain(tx: Queryable, workspaceId: string, host: string | undefined): Promise<void> {
  if (host === undefined) return;
  await lockWorkspace(tx, workspaceId);
  if (await chooseDefaultDomain(tx, workspaceId, host === 'none' ? null : host.toLowerCase())) return;
  throw new AppError('bad_request', `the workspace has no verified domain ${JSON.stringify(host)}`);
}

/** `hoplog workspace create | set | suspend | resume | list`. */
export function workspaceCommands(program: Command): void {
  const group = program.command('workspace').description('workspaces and their plans');
  group
    .command('create')
    .description('create a workspace with one secret and one publishable key (shown once)')
    .requiredOption('--name <name>', '1 to 100 characters', name)
    .addOption(new Option('--plan <plan>', 'plan').choices(PLANS).default('unlimited'))
    .option('--domain <domain>', 'domain of destinations on its own site', domain)
    .action(async (options: CreateOptions, command: Command) => {
      const result = await withStores(({ pool }) =>
        inTransaction(pool, async (db) => {
          const workspace = await createWorkspace(db, {
            name: options.name,
            plan: options.plan,
            primaryDomain: options.domain ?? null,
          });
          const secret = await createKey(db, { workspaceId: workspace.id, kind: 'secret', label: 'first' });
          const publishable = await createKey(db, {
            workspaceId: workspace.id,
            kind: 'publishable',
            label: 'first',
          });
          await recordOperator(db, {
            workspaceId: workspace.id,
            action: 'workspace.create',
            target: { type: 'workspace', id: workspace.id },
            details: { plan: workspace.plan },
          });
          return { workspace, secret_key: secret.token, publishable_key: publishable.token };
        }),
      );
      printResult(
        command,
        result,
        (made) =>
          `${describe(made.workspace)}\n\nsecret key       ${made.secret_key}\npublishable key  ${made.publishable_key}\nBoth keys are shown only once.`,
      );
    });

  group
    .command('set')
    .description(
      "change a workspace's plan, attribution, domains, currency, time zone, tracking, retention, logo, or referral settings",
    )
    .requiredOption('--workspace <id>', 'id or slug')
    .addOption(new Option('--plan <plan>', 'plan').choices(PLANS))
    .addOption(new Option('--status <status>', 'status of the plan').choices(PLAN_STATUSES))
    .addOption(
      new Option('--attribution-model <model>', 'model for later orders').choices(ATTRIBUTION_MODELS),
    )
    .option('--attribution-window <days>', '1 to 365 days', wholeNumber(1, 365))
    .option('--domain <domain>', 'domain of destinations on its own site', domain)
    .option('--currency <code>', 'ISO 4217 code of its revenue; fixed after the first order', currency)
    .addOption(
      new Option(
        '--identity-verification <mode>',
        'whether publishable calls that name a user need a user_hash',
      ).choices(IDENTITY_VERIFICATIONS),
    )
    .option(
      '--payout-hold-days <days>',
      `0 to ${MOST_PAYOUT_HOLD_DAYS} days that a payout waits after its address changed`,
      wholeNumber(0, MOST_PAYOUT_HOLD_DAYS),
    )
    .option(
      '--allowed-origins <origins>',
      'origins of pages that may use a publishable key, comma-separated, or "any"',
      allowedOrigins,
    )
    .option('--time-zone <name>', 'IANA time zone of days in reports', timeZone)
    .addOption(new Option('--tracking <mode>', 'how visitors are told apart').choices(TRACKINGS))
    .option(
      '--retention-months <months>',
      `months that clicks are kept: 1 to ${MOST_RETENTION_MONTHS}, or "forever"; older ones are deleted`,
      retention,
    )
    .option('--logo <file>', 'a PNG for QR codes, or "none"', logoIn)
    .option('--default-domain <domain>', 'verified domain of new links that name none, or "none"')
    .action(async (options: SetOptions, command: Command) => {
      const result = await withStores(async ({ pool }) => {
        const { id, currency: present } = await namedWorkspace(pool, options.workspace);
        // Reports have amounts in the present currency.
        if (options.currency !== undefined && options.currency !== present && (await hasOrders(pool, id))) {
          throw new AppError(
            'conflict',
            `the currency must stay ${present} because the workspace has orders`,
          );
        }
        const change = {
          plan: options.plan,
          plan_status: options.status,
          attribution_model: options.attributionModel,
          attribution_window: options.attributionWindow,
          primary_domain: options.domain,
          currency: options.currency,
          identity_verification: options.identityVerification,
          payout_hold_days: options.payoutHoldDays,
          allowed_origins: options.allowedOrigins,
          time_zone: options.timeZone,
          tracking: options.tracking,
          retention_months: options.retentionMonths,
        };
        const given = Object.entries({ ...change, default_domain: options.defaultDomain }).flatMap(
          ([name, value]) => (value === undefined ? [] : [[name, value] as const]),
        );
        return inTransaction(pool, async (tx) => {
          const workspace = await updateWorkspace(tx, id, change);
          if (!workspace) throw new AppError('not_found', `workspace ${id} no longer exists`);
          if (options.logo !== undefined) await setWorkspaceLogo(tx, id, options.logo);
          await recordOperator(tx, {
            workspaceId: id,
            action: 'workspace.update',
            target: { type: 'workspace', id },
            details: Object.fromEntries(given),
          });
          await chooseDomain(tx, id, options.defaultDomain);
          return { workspace };
        });
      });
      printResult(command, result, ({ workspace }) => describe(workspace));
    });

  for (const isSuspended of [true, false]) {
    group
      .command(isSuspended ? 'suspend' : 'resume')
      .description(
        isSuspended
          ? 'respond to visitors of all its links with 410, and to its API calls with 403, within a second'
          : 'end the suspension of a workspace',
      )
      .requiredOption('--workspace <id>', 'id or slug')
      .action(async (options: { workspace: string }, command: Command) => {
        const result = await withStores(async ({ pool }) => {
          const { id } = await namedWorkspace(pool, options.workspace);
          return inTransaction(pool, async (tx) => {
            const workspace = await suspendWorkspace(tx, id, isSuspended);
            if (!workspace) throw new AppError('not_found', `workspace ${id} no longer exists`);
            await recordOperator(tx, {
              workspaceId: id,
              action: isSuspended ? 'workspace.suspend' : 'workspace.resume',
              target: { type: 'workspace', id },
            });
            return { workspace };
          });
        });
        printResult(command, result, ({ workspace }) => describe(workspace));
      });
  }

  group
    .command('list')
    .description('list all workspaces, oldest first')
    .action(async (_options: object, command: Command) => {
      const result = await withStores(async ({ pool }) => ({ workspaces: await listWorkspaces(pool) }));
      printResult(command, result, ({ workspaces }) =>
        table(
          ['id', 'slug', 'name', 'plan', 'status'],
          workspaces.map((one) => [one.id, one.slug, one.name, one.plan, one.plan_status]),
        ),
      );
    });
}
