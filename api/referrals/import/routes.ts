import { AppError, badRequest } from '../../../core/errors.ts';
import { formOf } from '../../../core/link-imports/text-form.ts';
import { REFERRAL_FORMATS } from '../../../core/referral-imports/formats/known.ts';
import type { Slice } from '../../../core/tier/time-slices.ts';
import { inTransaction, type Pool } from '../../../sql/database/pool.ts';
import { latestProgram, type Program, programById } from '../../../sql/referrals/programs.ts';
import { actorOf } from '../../actor.ts';
import type { Api, ApiDeps } from '../../dependencies.ts';
import { noSuchProgram } from '../programs/service.ts';
import { importReferrals, type SourceFile, WrongReferralFile } from './import-referrals.ts';
import { ReferralImportBody, ReferralImportResult } from './schemas.ts';

/** Bytes of a body: some 40,000 rows, which take half a minute. */
const IMPORT_BODY_LIMIT = 4 * 1_048_576;
/** Imports of one process at a time: a dry run is one long transaction. */
const AT_A_TIME = 2;
/** Characters that are parsed in one step. */
const PIECE = 16_384;

/** Registers `POST /referrals/import`. Secret key, paid plan. */
export async function referralImportRoutes(app: Api, { pool }: Pick<ApiDeps, 'pool'>): Promise<void> {
  let running = 0;

  app.post(
    '/referrals/import',
    {
      bodyLimit: IMPORT_BODY_LIMIT,
      config: {
        scope: 'secret',
        plan: 'paid',
        errors: ['not_found', 'payload_too_large', 'too_many_requests'],
      },
      schema: {
        tags: ['Referrals'],
        operationId: 'referrals.import',
        summary: 'Import referrers from another program',
        description: DESCRIPTION,
        body: ReferralImportBody,
        response: { 200: ReferralImportResult },
      },
    },
    async (request) => {
      const { from, program_id, files, dry_run: dryRun = false } = request.body;
      const { workspace } = request.auth;
      const format = REFERRAL_FORMATS[from];
      if (format === undefined) throw new Error(`no format ${from}`);
      const program = await programOf(pool, workspace.id, program_id);
      if (running >= AT_A_TIME) {
        throw new AppError('too_many_requests', 'imports of referrers are under way: try again later');
      }
      running += 1;
      try {
        const slice = app.beginSlices();
        const sources = files.map((file, index) => sourceOf(file, index, slice));
        if (!dryRun) {
          // First: each batch of the import is a transaction of its own.
          const details = { from, files: files.length };
          await inTransaction(pool, (tx) => request.audit(tx, { targetId: program.id, details }));
        }
        const { errors, ...report } = await importReferrals({
          pool,
          workspace,
          program,
          from,
          format,
          dryRun,
          now: new Date(),
          by: actorOf(request),
          files: sources,
        });
        // Without the rows: the caller has them, and they hold addresses.
        return { ...report, errors: errors.map(({ row: _, ...error }) => error) };
      } catch (error) {
        if (error instanceof WrongReferralFile)
          throw badRequest('files', `can not be read: ${error.message}`);
        throw error;
      } finally {
        running -= 1;
      }
    },
  );
}

async function programOf(pool: Pool, workspaceId: string, id: string | undefined): Promise<Program> {
  if (id !== undefined) {
    const found = await programById(pool, workspaceId, id);
    if (!found) throw noSuchProgram();
    return found;
  }
  const newest = await latestProgram(pool, workspaceId);
  if (!newest) throw badRequest('program_id', 'is required: the workspace has no program');
  return newest;
}

/** @throws {AppError} `bad_request` for JSON, and for a text without rows */
function sourceOf(
  { name, text }: ReferralImportBody['files'][number],
  index: number,
  slice: Slice,
): SourceFile {
  const path = `files.${index}.text`;
  const whole = text.startsWith('\uFEFF') ? text.slice(1) : text;
  if (whole.trim() === '') throw badRequest(path, 'must have rows');
  if (whole.includes('\0')) throw badRequest(path, 'must be text');
  const form = formOf(whole);
  if (form.kind === 'json') throw badRequest(path, 'must be CSV, not JSON');
  return {
    name,
    form,
    async *text() {
      for (let at = 0; at < whole.length; at += PIECE) {
        await slice();
        yield whole.slice(at, at + PIECE);
      }
    },
  };
}

const DESCRIPTION = `The guide "Moving in from another referral program" says what becomes of a row. A refused row is in \`errors\`; the others
are imported. Rows that are there are \`existing\`, so an interrupted call can be sent again. Send more than 4 MiB in several calls,
partners first. During a dry run the workspace gets no new links.`;
