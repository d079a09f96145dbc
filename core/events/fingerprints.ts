import { ENVELOPE_BYTES, releasedRegistry } from './schema-registry.ts';

/** Fingerprints of schemas by name, such as `click.v1`. */
export type SchemaFingerprints = ReadonlyMap<string, string>;

const ENTRY = /^([a-z]+\.v\d{1,3})=([0-9a-f]{64})$/;
const OTHER_SCHEMA = /([a-z]+\.v\d{1,3}) was written with another schema: ([0-9a-f]{64})$/;

/**
 * Returns the schemas of a batch's events: `click.v1=<sha256> heartbeat.v1=<sha256>`. Unknown kinds and versions are
 * left out, and so is everything behind a broken envelope.
 *
 * @param payload encoded events, back to back; see `codec.ts`
 */
export function describeSchemas(payload: Uint8Array): string {
  const registry = releasedRegistry();
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  const entries = new Map<number, string>();
  let before = -1;
  for (let at = 0; at + ENVELOPE_BYTES <= payload.length; at += 4 + view.getUint32(at, true)) {
    const key = view.getUint16(at + 4, true);
    if (key === before) continue; // nearly all are clicks
    before = key;
    if (entries.has(key)) continue;
    const schema = registry.schema(key & 0xff, key >> 8);
    entries.set(key, schema ? `${schema.name}=${schema.fingerprint}` : '');
  }
  return [...entries.values()]
    .filter((entry) => entry !== '')
    .sort()
    .join(' ');
}

/**
 * Parses the text of {@link describeSchemas}. Malformed entries are skipped: each event's envelope names its version
 * too.
 */
export function parseSchemas(description: string): SchemaFingerprints {
  const entries = description.split(' ').map((entry) => ENTRY.exec(entry));
  return new Map(entries.flatMap((entry) => (entry?.[1] && entry[2] ? [[entry[1], entry[2]] as const] : [])));
}

/** Returns the reason why an event can't be decoded: its schema differs from this release's schema of that name. */
export function otherSchema(name: string, fingerprint: string): string {
  return `${name} was written with another schema: ${fingerprint}`;
}

/** Returns the schema that {@link otherSchema} named in a dead letter's reason. A replay must know it too. */
export function schemasOfReason(reason: string): SchemaFingerprints | undefined {
  const [, name, fingerprint] = OTHER_SCHEMA.exec(reason) ?? [];
  return name && fingerprint ? new Map([[name, fingerprint]]) : undefined;
}
