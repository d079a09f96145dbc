import type { S3Settings } from '../settings/config.ts';
import { folderTarget } from './folder-target.ts';
import { s3Target } from './s3-target.ts';
import type { FileTarget } from './target.ts';

/**
 * Opens a folder, or `s3://bucket/prefix`.
 *
 * @throws {TargetFailed} when it is malformed, or has no key
 */
export function openFileTarget(text: string, s3: S3Settings): FileTarget {
  return text.startsWith('s3://') ? s3Target(text, s3) : folderTarget(text);
}
