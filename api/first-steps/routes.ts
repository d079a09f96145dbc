import { type Static, Type } from 'typebox';
import { hasClick } from '../../clickhouse/queries/has-click.ts';
import { mayDo } from '../../core/access/roles.ts';
import { AppError } from '../../core/errors.ts';
import {
  FIRST_STEPS,
  hideSteps,
  hideStepsFrom,
  knownSteps,
  recordSteps,
  stepsDone,
} from '../../sql/console/first-steps.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { isUnavailable } from '../plugins/database-errors.ts';
import { Body, Ok, OneOf } from '../schemas.ts';
import { signedIn } from '../session/caller.ts';

const tags = ['Service'];
const MEMBER = { scope: 'member', plan: 'any', role: 'analyst', console: true } as const;

const FirstSteps = Type.Object(
  {
    steps: Type.Array(
      Type.Object(
        { step: OneOf(FIRST_STEPS, { title: 'FirstStepName' }), done: Type.Boolean() },
        { title: 'FirstStep' },
      ),
      { description: 'In order. A step that was seen done stays done.' },
    ),
  },
  { title: 'FirstSteps' },
);
export type FirstSteps = Static<typeof FirstSteps>;

const HideBody = Body(
  {
    hidden_for: OneOf(['member', 'workspace', 'none'], {
      description:
        '`workspace` is for owners. `none` shows the steps again, for an owner to the whole workspace.',
    }),
  },
  { title: 'HideFirstSteps' },
);

/** The step stays open until ClickHouse responds, so that the overview does not fail. */
function unknownWhileDown(error: unknown): false {
  if (!isUnavailable(error)) throw error;
  return false;
}

/** Registers the first steps of a workspace, which the console's overview shows until they are done or hidden. */
export async function firstStepRoutes(app: Api, { pool, readers }: ApiDeps): Promise<void> {
  app.get(
    '/first-steps',
    {
      config: MEMBER,
      schema: {
        tags,
        operationId: 'firstSteps.list',
        summary: 'List the first steps of the workspace',
        description: 'The session says whether the member is shown them.',
        response: { 200: FirstSteps },
      },
    },
    async ({ auth: { workspace } }): Promise<FirstSteps> => {
      const known = await knownSteps(pool, workspace.id);
      const open = FIRST_STEPS.filter((step) => !known.includes(step));
      const [done, isClicked] = await Promise.all([
        stepsDone(pool, workspace.id, open),
        open.includes('click') &&
          readers.read((clickhouse) => hasClick(clickhouse, workspace.id)).catch(unknownWhileDown),
      ]);
      const fresh = isClicked ? [...done, 'click' as const] : done;
      if (fresh.length > 0) await recordSteps(pool, workspace.id, fresh);
      const all = [...known, ...fresh];
      return { steps: FIRST_STEPS.map((step) => ({ step, done: all.includes(step) })) };
    },
  );

  app.patch(
    '/first-steps',
    {
      config: MEMBER,
      schema: {
        tags,
        operationId: 'firstSteps.hide',
        summary: 'Hide the first steps, or show them again',
        body: HideBody,
        response: { 200: Ok },
      },
    },
    async ({ auth, body: { hidden_for: whom } }) => {
      const { id, role } = signedIn(auth);
      const isOwner = mayDo(role, 'owner');
      if (whom === 'workspace' && !isOwner) {
        throw new AppError('forbidden', 'hiding the first steps for the workspace requires the role owner');
      }
      await inTransaction(pool, async (tx) => {
        if (whom !== 'workspace') await hideStepsFrom(tx, id, whom === 'member');
        if (whom !== 'member' && isOwner) await hideSteps(tx, auth.workspace.id, whom === 'workspace');
      });
      return { ok: true as const };
    },
  );
}
