import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FileTarget } from '../../../core/file-targets/target.ts';
import { RECORDS_VERSION } from '../disk/links-file.ts';
import { LONGEST_ABSENCE_MS, type SyncPoint } from '../loader.ts';

/**
 * A snapshot is all links as they were at a sync point: parts with records, `u32le length | record`, and a manifest,
 * which is written last. `links/<deployment>/manifest.json` names the newest one.
 */
export type Manifest = {
  /** Version of the records' format. */
  version: number;
  syncPoint: SyncPoint;
  /** Folder of the parts. */
  set: string;
  /** That of the snapshot before, which processes may still read. */
  formerSet: string | null;
  links: number;
  parts: Part[];
};

/** `sha256` in hexadecimal. */
export type Part = { bytes: number; sha256: string };

/** What a deployment's snapshots are kept under, and proven with. */
export type SnapshotKeys = {
  folder: string;
  /** Keyed hash of a manifest, in hexadecimal. */
  sign(text: string): string;
};

/** @param secret of the deployment; others can neither find nor make its snapshots */
export function snapshotKeys(secret: Uint8Array): SnapshotKeys {
  const hash = (purpose: string, text: string) =>
    createHmac('sha256', secret).update(`links snapshot ${purpose}\n${text}`).digest('hex');
  return { folder: `links/${hash('folder', '').slice(0, 16)}`, sign: (text) => hash('manifest', text) };
}

const keyOf = ({ folder }: SnapshotKeys) => `${folder}/manifest.json`;

export function partKey({ folder }: SnapshotKeys, set: string, index: number): string {
  return `${folder}/${set}/${String(index).padStart(5, '0')}`;
}

export async function writeManifest(
  target: FileTarget,
  keys: SnapshotKeys,
  manifest: Manifest,
): Promise<void> {
  const text = JSON.stringify(manifest);
  await target.put(keyOf(keys), Buffer.from(`${keys.sign(text)}\n${text}\n`));
}

/**
 * @returns null when there is none
 * @throws Error when it is damaged, or of another deployment
 */
export async function readManifest(target: FileTarget, keys: SnapshotKeys): Promise<Manifest | null> {
  const bytes = await target.get(keyOf(keys));
  if (bytes === null) return null;
  const [signature = '', text = ''] = Buffer.from(bytes).toString('utf8').split('\n');
  const expected = Buffer.from(keys.sign(text));
  const given = Buffer.from(signature);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new Error(`${target.name}/${keyOf(keys)} is damaged, or of another deployment`);
  }
  return JSON.parse(text) as Manifest;
}

/** Returns why a process can't use a snapshot; null: it can. @param server that responds now */
export function unusable({ version, syncPoint }: Manifest, server: string, now: number): string | null {
  if (version !== RECORDS_VERSION) return `its records are of version ${version}, not ${RECORDS_VERSION}`;
  if (syncPoint.server !== server) return 'PostgreSQL has started again since';
  if (now - syncPoint.at >= LONGEST_ABSENCE_MS) return 'it is too old';
  return null;
}
