import { createHash } from 'node:crypto';
import { isOnDomain } from '../links/destinations.ts';

/** A create body as a row gives it, not checked yet, and how the file calls the fields. */
export type CreateRow = {
  body: Record<string, unknown>;
  /** By the body's name of a field; a field that is not here is called what the body calls it. */
  columnOf: Readonly<Record<string, string>>;
};

/** What the rows of an import have in common. */
export type ImportDefaults = {
  /** Of the workspace; null: none yet. */
  primaryDomain: string | null;
  /** Of rows that name none: a channel's key, or a Smart Link. */
  channel: string | 'smart';
};

/** Longest name of a campaign that a create takes. */
export const NAME_LIMIT = 200;

/**
 * Fills in what a row leaves open, so that a row means one link, also when it is imported twice:
 *
 * - a row without `slug` and `external_id` gets an `external_id` made of its fields;
 * - without `channel`, `channels` and `smart` it gets the default;
 * - without `external` its destination counts as the workspace's own where it is on the primary domain, and as
 *   external elsewhere: an import never sets the domain, since the first link of an export is any link.
 */
export function completeRow(row: Record<string, unknown>, defaults: ImportDefaults): Record<string, unknown> {
  const body = { ...row };
  if (body.slug === undefined && body.external_id === undefined && namesOneLink(body)) {
    body.external_id = derivedId(body);
  }
  if (body.channel === undefined && body.channels === undefined && body.smart !== true) {
    if (defaults.channel === 'smart') body.smart = true;
    else body.channel = defaults.channel;
  }
  if (body.external === undefined && body.destination_id === undefined) {
    body.external = !isOwn(body.destination_url, defaults.primaryDomain);
  }
  return body;
}

/** A campaign has one link for each channel anyway; several channels can't share an `external_id`. */
function namesOneLink(body: Record<string, unknown>): boolean {
  const { destination_id, channels } = body;
  return destination_id === undefined && !(Array.isArray(channels) && channels.length > 1);
}

/** Without the password: whoever reads the link could try passwords on it. */
function derivedId({ password: _, ...body }: Record<string, unknown>): string {
  const fields = Object.entries(body).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const hash = createHash('sha256').update(JSON.stringify(fields)).digest('hex');
  return `import-${hash.slice(0, 32)}`;
}

function isOwn(destination: unknown, domain: string | null): boolean {
  if (domain === null || typeof destination !== 'string') return false;
  return URL.canParse(destination) && isOnDomain(new URL(destination), domain);
}
