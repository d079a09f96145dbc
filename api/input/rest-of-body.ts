import type { FastifyRequest, FastifySchemaValidationError } from 'fastify';
import type { AppError } from '../../core/errors.ts';
import { badFields, faultsOf } from '../../core/faults.ts';
import { meantBy, validationDetails } from './faults.ts';

/** Validates fields beyond the schema; see `checkRest` of a route's configuration. */
type CheckRest = (body: never, faulty: ReadonlySet<string>) => void;

/** How a body is validated beyond its schema. */
export type RestOfBody = {
  check: CheckRest;
  within?: string | undefined;
  lists?: readonly string[] | undefined;
};

const NONE: ReadonlySet<string> = new Set();

/** Returns how a route validates the body of a request beyond its schema, or null when it does not. */
export function restOfRoute(request: FastifyRequest): RestOfBody | null {
  const { checkRest, bodyWithin: within, partialLists: lists } = request.routeOptions.config;
  if (!checkRest) return null;
  return { check: (body, faulty) => checkRest(body, faulty, request), within, lists };
}

/**
 * Runs the checks of a route's body that its schema accepts, before the handler looks for anything. The handler itself
 * checks a request with an `Idempotency-Key`: a replay gets its response whatever the time is.
 *
 * @throws {AppError} `bad_request` that names every fault
 */
export function checkAccepted(request: FastifyRequest): void {
  const isReplay = request.headers['idempotency-key'] !== undefined;
  if (isReplay || request.routeOptions.config.checksAll || !isObject(request.body)) return;
  restOfRoute(request)?.check(request.body as never, NONE);
}

type Fields = Record<string, unknown>;

/** The fields of a body that have no fault. */
type Rest = {
  fields: Fields;
  /** The fields that are left out. */
  faulty: Set<string>;
  /** Returns whether a fault that was found in {@link Rest.fields} follows from what was left out. */
  isDoubtful: (path: string) => boolean;
};

/**
 * Returns the error of a body that its schema refuses, with the faults that the route finds in the fields without one.
 */
export function bodyRefusal(
  errors: readonly FastifySchemaValidationError[],
  body: unknown,
  rest: RestOfBody | null,
): AppError {
  const details = validationDetails(errors, 'body');
  if (rest === null || !isObject(body)) return badFields(details);
  const paths = [...details.map(({ path }) => path), ...meantBy(errors)];
  const { fields, faulty, isDoubtful } = restOf(body, paths, rest);
  try {
    rest.check(fields as never, faulty);
    return badFields(details);
  } catch (error) {
    const more = faultsOf(error);
    if (more === null) throw error;
    return badFields([...details, ...more.filter(({ path }) => !isDoubtful(path))]);
  }
}

/**
 * Returns a body without its faulty fields. Of objects in `lists` only their faulty fields are left out, and
 * of the field `within` only its own.
 *
 * @param paths of the faults
 */
function restOf(
  body: Fields,
  paths: readonly string[],
  { within, lists = [] }: Omit<RestOfBody, 'check'>,
): Rest {
  const prefix = `${within}.`;
  const inner = within === undefined ? undefined : body[within];
  const own = paths.filter((path) => path.startsWith(prefix));
  if (
    within !== undefined &&
    isObject(inner) &&
    own.length === paths.filter((path) => topOf(path) === within).length
  ) {
    const rest = restOfFields(
      inner,
      own.map((path) => path.slice(prefix.length)),
      lists,
    );
    const outer = restOfFields(
      body,
      paths.filter((path) => !path.startsWith(prefix)),
      [],
    );
    const ofInner = (path: string) => path.startsWith(prefix);
    return {
      fields: { ...outer.fields, [within]: rest.fields },
      faulty: new Set([...outer.faulty, ...[...rest.faulty].map((name) => prefix + name)]),
      isDoubtful: (path) =>
        ofInner(path) ? rest.isDoubtful(path.slice(prefix.length)) : outer.isDoubtful(path),
    };
  }
  return restOfFields(body, paths, lists);
}

function restOfFields(body: Fields, paths: readonly string[], lists: readonly string[]): Rest {
  const faulty = new Set<string>();
  /** Faulty fields of objects in lists, by list and index. */
  const inLists = new Map<string, Set<string>>();
  for (const path of paths) {
    const [top = path, index = '', field] = path.split('.');
    const list = body[top];
    if (field === undefined || !lists.includes(top) || !Array.isArray(list) || !isObject(list[Number(index)]))
      faulty.add(top);
    else inLists.set(top, (inLists.get(top) ?? new Set()).add(`${index}.${field}`));
  }
  const fields: Fields = {};
  for (const [name, value] of Object.entries(body)) {
    if (faulty.has(name)) continue;
    const without = inLists.get(name);
    fields[name] = without && Array.isArray(value) ? withoutFields(value, without) : value;
  }
  const isAbove = (path: string, other: string) => other === path || other.startsWith(`${path}.`);
  return {
    fields,
    faulty,
    isDoubtful: (path) =>
      faulty.has(topOf(path)) || paths.some((other) => isAbove(path, other) || isAbove(other, path)),
  };
}

/** Returns the items of a list without some fields. @param fields each as `<index>.<name>` */
const withoutFields = (list: readonly unknown[], fields: ReadonlySet<string>): unknown[] =>
  list.map((item, n) =>
    isObject(item)
      ? Object.fromEntries(Object.entries(item).filter(([name]) => !fields.has(`${n}.${name}`)))
      : item,
  );

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const topOf = (path: string): string => path.split('.', 1)[0] ?? path;
