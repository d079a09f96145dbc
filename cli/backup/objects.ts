import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';
import type { FileTarget, Stored } from '../../core/file-targets/target.ts';
import { CommandFailed } from '../output.ts';
import type { Bundle, ObjectRef } from './manifest.ts';

/** Content of one object. Bytes. */
const OBJECT_BYTES = 32 * 2 ** 20;
const FOLDER = 'objects/';

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** A file on this machine, and the path that it is restored to. */
export type SourceFile = {
  /** Relative to DATA_DIR. */
  path: string;
  source: string;
  /** Bytes to read at most; default: the file's size when it is opened. */
  upTo?: number | undefined;
};

/** Stores bundles as objects that are named by their content, so that equal content is stored once. */
export type ObjectStore = {
  /**
   * Stores the files of a bundle. A file that vanished is left out, and one that shrank is stored with its present
   * size.
   */
  store(files: readonly SourceFile[]): Promise<Pick<Bundle, 'files' | 'objects'>>;
  /** Checks that the target has every object of a bundle, with its size. */
  has(bundle: Bundle): boolean;
  /** Bytes written to the target so far. */
  written(): number;
};

/** Opens the objects of a target. */
export async function openObjects(target: FileTarget): Promise<ObjectStore> {
  const known = new Map((await storedObjects(target)).map(({ key, bytes }) => [key, bytes]));
  /** Objects being written. A concurrent bundle with equal content waits for them. */
  const pending = new Map<string, Promise<ObjectRef>>();
  let written = 0;

  function put(content: Uint8Array): Promise<ObjectRef> {
    const hash = createHash('sha256').update(content).digest('hex');
    const begun = pending.get(hash) ?? write(hash, content).finally(() => pending.delete(hash));
    pending.set(hash, begun);
    return begun;
  }

  async function write(hash: string, content: Uint8Array): Promise<ObjectRef> {
    const key = keyOf(hash);
    const kept = known.get(key);
    if (kept !== undefined && kept > 0) return [hash, content.length, kept];
    const packed = await compress(content, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
    await target.put(key, new Uint8Array(packed));
    known.set(key, packed.length);
    written += packed.length;
    return [hash, content.length, packed.length];
  }

  return {
    written: () => written,
    has: ({ objects }) => objects.every(([hash, , packed]) => known.get(keyOf(hash)) === packed),
    async store(sources) {
      const files: Bundle['files'] = [];
      const objects: ObjectRef[] = [];
      let held: Uint8Array[] = [];
      let heldBytes = 0;
      const flush = async () => {
        if (heldBytes === 0) return;
        objects.push(await put(Buffer.concat(held)));
        held = [];
        heldBytes = 0;
      };
      for (const { path, source, upTo } of sources) {
        const file = await open(source, 'r').catch(missingIsNull);
        if (file === null) continue;
        let length = 0;
        try {
          const end = upTo ?? (await file.stat()).size;
          while (length < end) {
            const piece = await readPiece(file, length, Math.min(end - length, OBJECT_BYTES - heldBytes));
            if (piece.length === 0) break;
            length += piece.length;
            held.push(piece);
            heldBytes += piece.length;
            if (heldBytes === OBJECT_BYTES) await flush();
          }
        } finally {
          await file.close();
        }
        files.push([path, length]);
      }
      await flush();
      return { files, objects };
    },
  };
}

async function readPiece(file: FileHandle, at: number, bytes: number): Promise<Uint8Array> {
  const buffer = Buffer.allocUnsafe(bytes);
  const { bytesRead } = await file.read(buffer, 0, bytes, at);
  return buffer.subarray(0, bytesRead);
}

/**
 * Reads an object and checks its content.
 *
 * @throws {CommandFailed} when it is missing or damaged
 */
export async function readObject(target: FileTarget, [hash, bytes]: ObjectRef): Promise<Uint8Array> {
  const packed = await target.get(keyOf(hash));
  if (packed === null) throw new CommandFailed(`damaged backup: ${target.name} lacks ${keyOf(hash)}`);
  const content = await decompress(packed, { maxOutputLength: OBJECT_BYTES }).catch(() => null);
  if (content?.length !== bytes || createHash('sha256').update(content).digest('hex') !== hash) {
    throw new CommandFailed(
      `damaged backup: ${keyOf(hash)} in ${target.name} has other content than its name says`,
    );
  }
  return content;
}

/** Writes the files of a bundle below a directory, and syncs them. */
export async function writeBundle(
  target: FileTarget,
  bundle: Bundle,
  into: (path: string) => string,
): Promise<void> {
  const objects = bundle.objects.values();
  let content: Uint8Array = new Uint8Array();
  for (const [path, length] of bundle.files) {
    await mkdir(dirname(into(path)), { recursive: true, mode: 0o700 });
    const file = await open(into(path), 'wx', 0o600);
    try {
      for (let left = length; left > 0; ) {
        if (content.length === 0) {
          const next = objects.next();
          if (next.done) throw new CommandFailed(`damaged backup: ${path} is longer than its objects`);
          content = await readObject(target, next.value);
        }
        const piece = content.subarray(0, left);
        await file.writeFile(piece);
        content = content.subarray(piece.length);
        left -= piece.length;
      }
      await file.sync();
    } finally {
      await file.close();
    }
  }
}

/** Returns the keys of the objects that bundles need. */
export function objectKeys(bundles: readonly Bundle[]): Set<string> {
  return new Set(bundles.flatMap(({ objects }) => objects.map(([hash]) => keyOf(hash))));
}

/** Lists the objects of a target, needed or not. */
export function storedObjects(target: FileTarget): Promise<Stored[]> {
  return target.list(FOLDER);
}

function keyOf(hash: string): string {
  return `${FOLDER}${hash.slice(0, 2)}/${hash.slice(2)}.zst`;
}

function missingIsNull(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}
