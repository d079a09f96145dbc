import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Registry } from 'prom-client';
import type { TSchema } from 'typebox';
import type { ClickHouseClient } from '../clickhouse/client.ts';
import type { Readers } from '../clickhouse/readers/readers.ts';
import type { Replica } from '../clickhouse/replicas.ts';
import type { Cost } from '../core/access/passwords.ts';
import type { Role } from '../core/access/roles.ts';
import type { LookUpTxt } from '../core/dns/txt-records.ts';
import type { ErrorCode } from '../core/errors.ts';
import type { EventLogWriter } from '../core/event-log/port.ts';
import type { BlockedDomains } from '../core/links/blocked-domains.ts';
import type { Config } from '../core/settings/config.ts';
import type { Logger } from '../core/tier/log.ts';
import type { Tracing } from '../core/tier/tracing.ts';
import type { ResolveHost } from '../core/webhooks/resolve-host.ts';
import type { NewAuditEntry } from '../sql/audit/audit-log.ts';
import type { SessionCaller } from '../sql/console/sessions.ts';
import type { Pool } from '../sql/database/pool.ts';
import type { BesideKey } from '../sql/workspaces/callers.ts';
import type { KeyRecord } from '../sql/workspaces/keys.ts';
import type { Partner } from '../sql/workspaces/partners.ts';
import type { Workspace } from '../sql/workspaces/workspaces.ts';
import type { RecordChange } from './plugins/audit.ts';

/** The dependencies of the API. `main.ts` creates them for a process, `test/support/api.ts` for a test. */
export type ApiDeps = {
  config: Config;
  pool: Pool;
  /** The first replica. */
  clickhouse: ClickHouseClient;
  /** All replicas, for what it writes. */
  replicas: readonly [Replica, ...Replica[]];
  /** All replicas, for what it reads. */
  readers: Readers;
  /** The stream that `/track/*` writes to. */
  eventLog: EventLogWriter;
  log: Logger;
  registry: Registry;
  /** Left out: nothing is traced. */
  tracing?: Tracing;
  /** The operator's list of domains; none by default. */
  blockedDomains?: BlockedDomains;
  /** For tests: a resolver for the hosts of webhooks. */
  resolveHost?: ResolveHost;
  /** For tests: a lookup of the records that prove domains. */
  lookUpTxt?: LookUpTxt;
  /** For tests: the cost of hashing a member's password, `MEMBER_COST` by default. */
  passwordCost?: Cost;
};

/** What `createApi` takes. Left out, `replicas` are `clickhouse` alone, and `readers` read it. */
export type GivenApiDeps = Omit<ApiDeps, 'readers' | 'replicas'> &
  Partial<Pick<ApiDeps, 'readers' | 'replicas'>>;

/** The Fastify instance with handlers typed by their TypeBox schemas. */
export type Api = FastifyInstance<
  Server,
  IncomingMessage,
  ServerResponse<IncomingMessage>,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/** A workspace member signed in to the console. */
export type SignedIn = {
  id: string;
  email: string | null;
  role: Role;
  session: SessionCaller['session'];
  /** The `x-csrf-token` that its writes send. */
  csrfToken: string;
};

/**
 * The workspace that a request acts for, and its key. A console session acts as a secret key of its own, limited by its
 * member's role.
 */
export type Auth = {
  workspace: Workspace;
  key: KeyRecord;
  member?: SignedIn;
  /** The result of the route's `besideKey`, when the request has a key. */
  beside?: unknown;
};

/**
 * Who may call a route. `secret`: a secret workspace key or a member's session. `any`: also a publishable key.
 * `member`: a member's session only. `partner`: a partner key. `public`: anyone.
 */
export type Scope = 'secret' | 'any' | 'member' | 'partner' | 'public';

export type PlanNeed = 'paid' | 'any';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Required on every route under `/api/v1`, checked at start. */
    scope?: Scope;
    /** The minimum role of a member; by default `analyst` for GET and HEAD, `operator` for the rest. */
    role?: Role;
    /** A key needs `manage`, whatever its scopes; a function where it depends on the parameters. */
    manage?: true | ((request: FastifyRequest) => boolean);
    /** The plan that a route requires, `paid` by default; a function where it depends on the query. */
    plan?: PlanNeed | ((request: FastifyRequest) => PlanNeed);
    /** A GET that writes. */
    writes?: true;
    /** The route reads clicks, within its workspace's concurrency limit. See `plugins/report-limit.ts`. */
    readsClicks?: true;
    /**
     * For a route with `readsClicks` that continues an earlier read: the time up to which its reader was promised every
     * click, in microseconds.
     */
    promisedUpTo?: (request: FastifyRequest) => number;
    /** The route calls others with its key, which refuse what the key may not do: any restricted key may call it. */
    callsOthers?: true;
    /** A further column for the query of the key, for {@link Auth.beside}. */
    besideKey?: BesideKey;
    /**
     * The route creates something: `Idempotency-Key` is validated and documented; see `withIdempotency`.
     */
    idempotent?: true;
    /**
     * Validates a body beyond its schema, and throws all of its faults. It runs before the handler. When the schema
     * refuses the body, it checks the fields without a fault, so that one response names all faults.
     *
     * @param faulty the fields that are left out because of theirs; a required one may be missing
     */
    checkRest?: (body: never, faulty: ReadonlySet<string>, request: FastifyRequest) => void;
    /**
     * The handler finds all faults of a body that the schema accepts, because some depend on what is stored. Then
     * `checkRest` runs only for a body that the schema refuses.
     */
    checksAll?: true;
    /** Lists of objects of which `checkRest` checks the other fields where one is faulty; others are left out whole. */
    partialLists?: readonly string[];
    /** The field of the body that is a body of its own, for `checkRest`: its fields are left out one by one. */
    bodyWithin?: string;
    /**
     * The field of the body whose elements the route validates one by one. An element that can't be stored becomes
     * an `UnstorableRow` (`input/body.ts`) and does not refuse the request.
     */
    rows?: string;
    /** A member must have signed in, or confirmed who they are, within ten minutes. */
    recentSignIn?: true;
    /** The route works in a suspended workspace too. */
    whileSuspended?: true;
    /** A page that does not depend on its address; its script validates that. */
    page?: true;
    /** For the document: error codes besides those that follow from the other settings. */
    errors?: ErrorCode[];
    /** For the document: responses that no single schema can serialize. */
    answers?: Record<number, TSchema>;
    /** For the document: body and query whose validating schemas differ from what a client needs. */
    document?: { body?: TSchema; querystring?: TSchema };
    /** For the document: response headers of its own, by their names in `openapi/headers.ts`. */
    responseHeaders?: readonly (
      | 'ExportId'
      | 'LedgerHead'
      | 'LeftOut'
      | 'HeldBack'
      | 'Rounded'
      | 'QuietZone'
    )[];
    /** The route is for the console's browser only, and in the console's document. */
    console?: true;
  }

  interface FastifyRequest {
    /** Set on routes of scope `secret`, `any` and `member`. */
    auth: Auth;
    /** Set on routes of scope `partner`. */
    partner: Partner;
    /** Writes the audit entry of the operation; see `plugins/audit.ts`. */
    audit: RecordChange;
    /** Audit entries of this request, for log lines after the commit. */
    auditEntries: readonly NewAuditEntry[] | null;
    /** The checked `Idempotency-Key` with the request's fingerprint, if an idempotent route got one. */
    idempotency: { key: string; fingerprint: Buffer } | null;
  }
}

export type { FastifyReply, FastifyRequest };
