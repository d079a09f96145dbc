import { createHash } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import type { FileTarget } from '../../core/file-targets/target.ts';
import { CommandFailed } from '../output.ts';

/** A piece of at most 32 MiB: the SHA-256 of its content, and how many bytes it has, plain and compressed. */
const ObjectRef = Type.Tuple([Type.String(), Type.Integer(), Type.Integer()]);

/** Consecutive files, and the objects that hold them. */
const Bundle = Type.Object({
  /** Unchanged content of a ClickHouse part has the same key in a later backup; null: compare the content. */
  key: Type.Union([Type.String(), Type.Null()]),
  /** Paths in DATA_DIR, with their lengths in bytes. */
  files: Type.Array(Type.Tuple([Type.String(), Type.Integer()])),
  objects: Type.Array(ObjectRef),
});

const Manifest = Type.Object({
  format: Type.Literal(1),
  name: Type.String(),
  /** Hoplog's version. */
  version: Type.String(),
  /** Major version of PostgreSQL: another one cannot read the files. */
  postgres: Type.String(),
  /** PostgreSQL's system identifier, which a restored service keeps. */
  deployment: Type.String(),
  /**
   * ISO 8601. The backup has everything acknowledged before `began_at`, and nothing that a worker wrote after
   * `point_at`.
   */
  began_at: Type.String(),
  point_at: Type.String(),
  directories: Type.Array(Type.String()),
  bundles: Type.Array(Bundle),
});

export type ObjectRef = Static<typeof ObjectRef>;
export type Bundle = Static<typeof Bundle>;
export type Manifest = Static<typeof Manifest>;

const FOLDER = 'backups/';
const SUFFIX = '.json';
const NAME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/;

/** Returns the name of a backup that begins now, such as `2026-11-25T16-30-00Z`. */
export function nameAt(date: Date): string {
  return `${date.toISOString().slice(0, 19).replaceAll(':', '-')}Z`;
}

/** Returns when the backup of this name began. */
export function timeOf(name: string): Date {
  return new Date(name.replace(/T(\d\d)-(\d\d)-(\d\d)Z$/, 'T$1:$2:$3Z'));
}

/** Returns the names of the complete backups, oldest first. */
export async function listBackups(target: FileTarget): Promise<string[]> {
  const names = (await target.list(FOLDER)).map(({ key }) => key.slice(FOLDER.length));
  return names
    .filter((name) => name.endsWith(SUFFIX))
    .map((name) => name.slice(0, -SUFFIX.length))
    .filter((name) => NAME.test(name))
    .sort();
}

/** Writes the manifest, after which the backup is complete. Its first line is the SHA-256 of the second. */
export async function writeManifest(target: FileTarget, manifest: Manifest): Promise<void> {
  const text = JSON.stringify(manifest);
  await target.put(FOLDER + manifest.name + SUFFIX, new TextEncoder().encode(`${sha256(text)}\n${text}\n`));
}

/**
 * Reads a manifest.
 *
 * @throws {CommandFailed} when there is none of this name, or it is damaged
 */
export async function readManifest(target: FileTarget, name: string): Promise<Manifest> {
  const bytes = NAME.test(name) ? await target.get(FOLDER + name + SUFFIX) : null;
  if (bytes === null) {
    throw new CommandFailed(`no backup ${name} in ${target.name}: run "hoplog backup list"`);
  }
  const [hash, text = ''] = new TextDecoder().decode(bytes).split('\n');
  if (hash !== sha256(text)) throw new CommandFailed(`the manifest of backup ${name} is damaged`);
  return Value.Parse(Manifest, JSON.parse(text));
}

export async function removeManifest(target: FileTarget, name: string): Promise<void> {
  await target.remove(FOLDER + name + SUFFIX);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
