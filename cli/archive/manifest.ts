import { type Static, Type } from 'typebox';
import { NUMBERED } from '../../sql/archive/archived-table.ts';

/** The format of archives that this release writes and reads. A release that changes it reads older ones. */
export const ARCHIVE_VERSION = 1;

/** The first file: what the archive is. */
export const FORMAT_FILE = 'hoplog-workspace.json';
/** The last file but one: what the archive has. */
export const MANIFEST_FILE = 'manifest.json';
/** The last file: the SHA-256 of the manifest. */
export const CHECKSUM_FILE = 'manifest.sha256';

export const Format = Type.Object({ format: Type.Literal('hoplog-workspace'), version: Type.Integer() });

const File = Type.Object({
  name: Type.String(),
  rows: Type.Integer(),
  bytes: Type.Integer(),
  sha256: Type.String(),
  /** Time span of the events. Nanoseconds, `after < ts <= to`. */
  span: Type.Union([Type.Object({ after: Type.String(), to: Type.String() }), Type.Null()]),
});

const Part = Type.Object({
  table: Type.String(),
  store: Type.Union([Type.Literal('postgresql'), Type.Literal('clickhouse')]),
  columns: Type.Array(Type.String()),
  rows: Type.Integer(),
  files: Type.Array(File),
});

const Range = Type.Object({ least: Type.Integer(), greatest: Type.Integer() });

export const Manifest = Type.Object({
  /** Id of the archive. A second import of the same archive adds nothing. */
  id: Type.String(),
  version: Type.Integer(),
  /** Hoplog's version. */
  made_by: Type.String(),
  made_at: Type.String(),
  /** Origin of the deployment's own short links. */
  short_url: Type.String(),
  workspace: Type.Object({ id: Type.String(), name: Type.String(), slug: Type.String() }),
  /** ISO 8601: clicks before it are in the archive. */
  clicks_before: Type.String(),
  numbers: Type.Partial(
    Type.Object(
      Object.fromEntries(Object.keys(NUMBERED).map((table) => [table, Range])) as Record<
        keyof typeof NUMBERED,
        typeof Range
      >,
    ),
  ),
  parts: Type.Array(Part),
  /** What the archive leaves out of the workspace. */
  left_out: Type.Array(Type.Object({ what: Type.String(), rows: Type.Integer(), why: Type.String() })),
});

export type ArchiveFile = Static<typeof File>;
export type ArchivePart = Static<typeof Part>;
export type Manifest = Static<typeof Manifest>;
export type LeftOut = Manifest['left_out'][number];
