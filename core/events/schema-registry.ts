import { readFileSync } from 'node:fs';
import avro from 'avsc';
import type { TrackedEvent } from './types.ts';

export type EventKind = TrackedEvent['kind'];

/** Codes of the kinds in the byte before an event's body. Permanent: a code is never reused. */
export const KIND_CODES: Readonly<Record<EventKind, number>> = {
  click: 1,
  identify: 2,
  order: 3,
  heartbeat: 4,
  clock: 5,
};

/**
 * Bytes of an event's envelope: `u32le length | u8 kind | u8 version | Avro body`, where the length excludes itself.
 * It isolates a bad event from its neighbors and names the version.
 */
export const ENVELOPE_BYTES = 6;

/** One version of a kind's Avro schema. Versions count from 1 to 255. */
export type VersionedSchema = { kind: EventKind; version: number; schema: avro.schema.AvroSchema };

/** Reads the body of one event from `position`; `end` is where it stopped, or -1 past the buffer. */
export type BodyReader = (buffer: Buffer, position: number) => { value: unknown; end: number };

/** `name`: such as `click.v1`. `fingerprint`: SHA-256 of the schema in canonical form, in hexadecimal. */
export type SchemaFingerprint = { name: string; fingerprint: string };

export type VersionReader = SchemaFingerprint & { kind: EventKind; read: BodyReader };

export type SchemaRegistry = {
  current(kind: EventKind): { version: number; type: avro.Type };
  /**
   * Returns a reader of records of `version` as the newest version of their kind: new fields get their defaults. A
   * text instead of a reader tells why there is none.
   */
  reader(code: number, version: number): VersionReader | string;
  /** Returns the name and fingerprint of a version; null when it is unknown. */
  schema(code: number, version: number): SchemaFingerprint | null;
};

/**
 * Creates a registry of every version of every kind, so that old records stay readable.
 *
 * @throws Error when a kind has no schema, a version comes twice, or an older version can't be read as the newest one
 *   (a field added without a default, a type changed)
 */
export function createSchemaRegistry(schemas: VersionedSchema[]): SchemaRegistry {
  const registry = registryOf(schemas);
  for (const { kind, version } of schemas) registry.schema(KIND_CODES[kind], version);
  return registry;
}

/** {@link createSchemaRegistry} without the check of older versions: a reader is made at its first use. */
function registryOf(schemas: VersionedSchema[]): SchemaRegistry {
  const current = {} as Record<EventKind, { version: number; type: avro.Type }>;
  const known = new Map<number, VersionedSchema>();
  const readers = new Map<number, VersionReader>();
  for (const kind of Object.keys(KIND_CODES) as EventKind[]) {
    const versions = schemas.filter((schema) => schema.kind === kind).sort((a, b) => b.version - a.version);
    const [newest] = versions;
    if (!newest) throw new Error(`event kind ${kind} has no schema`);
    current[kind] = { version: newest.version, type: typeOf(newest.schema) };
    for (const schema of versions) {
      const key = readerKey(KIND_CODES[kind], schema.version);
      if (known.has(key)) throw new Error(`event kind ${kind} has version ${schema.version} twice`);
      known.set(key, schema);
    }
  }

  function readerOf(key: number): VersionReader | null {
    const schema = known.get(key);
    if (!schema) return null;
    const reader = newReader(schema, current[schema.kind]);
    readers.set(key, reader);
    return reader;
  }

  return {
    current: (kind) => current[kind],
    reader(code, version) {
      const key = readerKey(code, version);
      const found = readers.get(key) ?? readerOf(key);
      if (found) return found;
      const kind = (Object.keys(KIND_CODES) as EventKind[]).find((name) => KIND_CODES[name] === code);
      return kind
        ? `${kind} of version ${version}: no such schema here`
        : `no event kind has the code ${code}`;
    },
    schema(code, version) {
      const key = readerKey(code, version);
      return readers.get(key) ?? readerOf(key);
    },
  };
}

function newReader(
  { kind, version, schema }: VersionedSchema,
  newest: { version: number; type: avro.Type },
): VersionReader {
  const written = version === newest.version ? newest.type : typeOf(schema);
  return {
    kind,
    name: `${kind}.v${version}`,
    // Uses the canonical form, which decides how bytes are read: no documentation, no defaults.
    fingerprint: written.fingerprint('sha256').toString('hex'),
    read: bodyReader(newest.type, written === newest.type ? null : written),
  };
}

function readerKey(code: number, version: number): number {
  return (code << 8) | version;
}

function typeOf(schema: avro.schema.AvroSchema): avro.Type {
  return avro.Type.forSchema(schema, { omitRecordMethods: true });
}

function bodyReader(type: avro.Type, writtenWith: avro.Type | null): BodyReader {
  const resolver = writtenWith ? type.createResolver(writtenWith) : undefined;
  return (buffer, position) => {
    const { value, offset } = type.decode(buffer, position, resolver);
    return { value, end: offset };
  };
}

/** The schema files of this release. A new version is a new file and a new line here; old ones stay. */
const SCHEMA_FILES: readonly { kind: EventKind; version: number }[] = [
  { kind: 'click', version: 1 },
  { kind: 'identify', version: 1 },
  { kind: 'order', version: 1 },
  { kind: 'heartbeat', version: 1 },
  { kind: 'clock', version: 1 },
];

/** Reads `schemas/<kind>.v<version>.avsc` of every version of this release. */
export function releasedSchemas(): VersionedSchema[] {
  return SCHEMA_FILES.map(({ kind, version }) => {
    const file = new URL(`./schemas/${kind}.v${version}.avsc`, import.meta.url);
    return { kind, version, schema: JSON.parse(readFileSync(file, 'utf8')) as avro.schema.AvroSchema };
  });
}

let released: SchemaRegistry | undefined;

/** Returns the registry of this release, read from its schema files at the first use. */
export function releasedRegistry(): SchemaRegistry {
  released ??= registryOf(releasedSchemas());
  return released;
}
