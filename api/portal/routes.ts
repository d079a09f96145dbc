import { addressHash } from '../../core/addresses/address-hash.ts';
import { AppError, badRequest } from '../../core/errors.ts';
import { readAll } from '../../core/faults.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { createOutbox } from '../../sql/mail/outbox.ts';
import { spendChallenge } from '../../sql/portal/challenges.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { readEmail } from '../emails.ts';
import { Ok } from '../schemas.ts';
import { createHashKey } from '../session/hash-key.ts';
import { ownPage } from '../session/own-origin.ts';
import { applyToProgram, readAnswers, readTerms } from './apply.ts';
import { inEvenTime } from './even-time.ts';
import { isOpen, noSuchPortal, portalOf } from './portal-of.ts';
import { createWork } from './proof-of-work.ts';
import { ApplyBody, ChallengeRecord } from './schemas.ts';

const tags = ['Portal'];
const PUBLIC = { scope: 'public', plan: 'any', console: true } as const;

/** Registers the calls of the portal's pages, which need no account. */
export async function portalRoutes(app: Api, { pool, config }: ApiDeps): Promise<void> {
  const places = { ...config, outbox: createOutbox(config.mail !== null) };
  const key = createHashKey(pool);
  const work = createWork(key);
  const onRequest = ownPage(config);

  app.post(
    '/portal/challenges',
    {
      onRequest,
      config: { ...PUBLIC, errors: ['forbidden'] },
      schema: {
        tags,
        operationId: 'portal.createChallenge',
        summary: 'Get a proof of work to do',
        description: 'An application carries its solution. It counts once, for an hour.',
        response: { 201: ChallengeRecord },
      },
    },
    async (_request, reply) => reply.status(201).send(await work.create(new Date())),
  );

  app.post(
    '/portal/applications',
    {
      onRequest,
      config: {
        ...PUBLIC,
        errors: ['forbidden', 'not_found', 'conflict', 'too_many_requests'],
        checksAll: true,
        checkRest: ({ email }: Partial<ApplyBody>) => void (email !== undefined && readEmail(email, 'email')),
      },
      schema: {
        tags,
        operationId: 'portal.apply',
        summary: 'Apply to a program',
        description:
          'The response and its time are the same whether the address has applied before; then nothing changes. A 409 when the terms have changed. After ten calls in an hour from one network address, further ones get a 429.',
        body: ApplyBody,
        response: { 202: Ok },
      },
    },
    async (request, reply) => {
      const { body } = request;
      const challenge = await work.check(body, new Date());
      const from =
        addressHash(await key(), 'portal', request.ip) ?? addressHash(await key(), 'portal', '0.0.0.0');
      if (!from) throw new Error('the address of no one has no hash');
      await inEvenTime(async () => {
        const found = await portalOf(pool, body.code);
        if (!found || !isOpen(found.program)) throw noSuchPortal();
        const { portal } = found.program;
        const { email, answers, terms } = readAll({
          email: () => readEmail(body.email, 'email'),
          answers: () => readAnswers(portal, body.answers ?? {}),
          terms: () => readTerms(portal, body.terms_version),
        });
        await inTransaction(pool, async (tx) => {
          const spent = await spendChallenge(tx, challenge, from);
          if (spent === 'too_many') {
            throw new AppError(
              'too_many_requests',
              'too many applications; try again in an hour',
              undefined,
              {
                retryAfter: 3_600,
              },
            );
          }
          if (spent === 'used') throw badRequest('challenge', 'was used before; get another one');
          if (body.website) return;
          const { name, language } = body;
          await applyToProgram(tx, found, { email, name: name.trim(), answers, language, terms }, places);
        });
      });
      return reply.status(202).send({ ok: true as const });
    },
  );
}
