/** A file in a target. */
export type Stored = { key: string; bytes: number; modifiedMs: number };

/** A place for files that several processes share: a folder, or a bucket. Keys are relative paths. */
export type FileTarget = {
  /** The target as the operator wrote it, for messages. */
  name: string;
  /** Writes a file whole or not at all. Replaces a file of this key. */
  put(key: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** @returns null when there is no file of this key */
  get(key: string): Promise<Uint8Array<ArrayBuffer> | null>;
  /** Returns every file whose key starts with the prefix, which ends with `/`. */
  list(prefix: string): Promise<Stored[]>;
  /** Removes a file, if it exists. */
  remove(key: string): Promise<void>;
};

/** A target that is malformed, does not respond, or refuses. Its message needs no stack trace. */
export class TargetFailed extends Error {
  override name = 'TargetFailed';
}
