import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Registry } from 'prom-client';
import type { TSchema } from 'typebox';
import type { ClickHouseClient } from '../clickhouse/client.ts';
import type { Cost } from '../core/access/passwords.ts';
import type { Role } from '../core/access/roles.ts';
import type { ErrorCode } from '../core/errors.ts';
import type { EventLogWriter } from '../core/event-log/port.ts';
import type { Config } from '../core/settings/config.ts';
import type { Logger } from '../core/tier/log.ts';
import type { ResolveHost } from '../core/webhooks/resolve-host.ts';
import type { SessionRecord } from '../sql/console/sessions.ts';
import type { Pool } from '../sql/database/pool.ts';
import type { ReadingPoint } from '../sql/event-log/reading-points.ts';
import type { KeyRecord } from '../sql/workspaces/keys.ts';
import type { Partner } from '../sql/workspaces/partners.ts';
import type { Workspace } from '../sql/workspaces/workspaces.ts';

/** What the API needs of the world. `main.ts` makes it for a process, `test/support/api.ts` for a test. */
export type ApiDeps = {
  config: Config;
  pool: Pool;
  clickhouse: ClickHouseClient;
  /** The stream that `/track/*` writes to. */
  eventLog: EventLogWriter;
  log: Logger;
  registry: Registry;
  /** For tests: other name servers, for the addresses of webhooks. */
  resolveHost?: ResolveHost;
  /** For tests: what hashing a member's password costs, `MEMBER_COST` unless given. */
  passwordCost?: Cost;
};

/** The Fastify instance that routes are registered on: its handlers' types come from their TypeBox schemas. */
export type Api = FastifyInstance<
  Server,
  IncomingMessage,
  ServerResponse<IncomingMessage>,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/** A member of a workspace behind a session of the console. */
export type SignedIn = {
  id: string;
  email: string | null;
  role: Role;
  session: SessionRecord;
  /** What its changing calls carry as `x-csrf-token`. */
  csrfToken: string;
};

/**
 * The workspace that a request acts for, and the key it came with. A session of the console acts as a secret key
 * of its own, within its member's role.
 */
export type Auth = {
  workspace: Workspace;
  key: KeyRecord;
  member?: SignedIn;
  /** On routes with `readsClicks`, when the request carries a key; get it through `readingPointOf`. */
  readingPoint?: ReadingPoint;
};

/**
 * Who may call a route. `secret`: a secret workspace key, or a member's session. `any`: a publishable key too.
 * `member`: a member's session alone. `partner`: a partner key. `public`: nobody is asked.
 */
export type Scope = 'secret' | 'any' | 'member' | 'partner' | 'public';

export type PlanNeed = 'paid' | 'any';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Required on every route under `/api/v1`; a route without it is refused at start. */
    scope?: Scope;
    /** What a member must be to call it; without it `analyst` for GET and HEAD, `operator` for the rest. */
    role?: Role;
    /** The plan a route needs; a function where it depends on the query. Without it: `paid`. */
    plan?: PlanNeed | ((request: FastifyRequest) => PlanNeed);
    /** The route reads clicks: the key check also selects the reading point ({@link Auth.readingPoint}). */
    readsClicks?: true;
    /**
     * The route creates something: `Idempotency-Key` is checked and documented; see `withIdempotency`. `unkept`: its
     * answer holds a secret and is not kept, so that the key is checked and nothing else.
     */
    idempotent?: true | 'unkept';
    /**
     * The field of the body whose elements the route judges one by one. One that could not be kept as it was sent
     * does not refuse the request: it comes as an `UnstorableRow` (`plugins/body.ts`).
     */
    rows?: string;
    /**
     * A page that is the same whatever stands in its address: its script reads that, and says what is wrong with it.
     */
    page?: true;
    /** Codes that the route answers with besides those that follow from its other settings: for the document. */
    errors?: ErrorCode[];
    /** Answers for the document where one schema can't serialise them all. */
    answers?: Record<number, TSchema>;
    /** Body and query for the document where the schemas that validate them say less, or more, than a client needs. */
    document?: { body?: TSchema; querystring?: TSchema };
    /** Response headers of its own, by their names in `openapi/headers.ts`: for the document. */
    responseHeaders?: readonly 'ExportId'[];
    /** The route is for the console's browser alone: it is in the console's own document. */
    console?: true;
  }

  interface FastifyRequest {
    /** Set on routes of scope `secret`, `any` and `member`. */
    auth: Auth;
    /** Set on routes of scope `partner`. */
    partner: Partner;
    /** The checked `Idempotency-Key` with the request's fingerprint, on idempotent routes that carry one. */
    idempotency: { key: string; fingerprint: Buffer } | null;
  }
}

export type { FastifyReply, FastifyRequest };
