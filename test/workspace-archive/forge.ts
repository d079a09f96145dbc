import { createHash } from 'node:crypto';
import { tarHeader, tarPadding } from '../../cli/archive/tar.ts';

/** Returns an archive with other rows of a table, as a forger writes it: with its checksums. */
export function withRows(archive: Buffer, table: string, rows: readonly object[]): Buffer {
  const name = `postgresql/${table}/000001.ndjson`;
  const at = archive.indexOf(`${name}\0`);
  const bytes = Number.parseInt(archive.toString('utf8', at + 124, at + 135), 8);
  const former = archive.subarray(at + 512, at + 512 + bytes);
  const content = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const changed = Buffer.concat([
    archive.subarray(0, at),
    tarHeader(name, content.length),
    content,
    tarPadding(content.length),
    archive.subarray(at + 512 + bytes + tarPadding(bytes).length),
  ]);
  const hash = (text: Buffer) => createHash('sha256').update(text).digest('hex');
  return withManifest(changed, (manifest) =>
    manifest.replace(
      new RegExp(`("name": "${name}",\\s+"bytes": )${bytes}(,\\s+"sha256": ")${hash(former)}`),
      `$1${content.length}$2${hash(content)}`,
    ),
  );
}

/** Returns an archive with another manifest, and its checksum. */
export function withManifest(archive: Buffer, change: (text: string) => string): Buffer {
  const at = archive.lastIndexOf('manifest.json\0');
  const bytes = Number.parseInt(archive.toString('utf8', at + 124, at + 135), 8);
  const manifest = Buffer.from(change(archive.toString('utf8', at + 512, at + 512 + bytes)));
  const sum = Buffer.from(`${createHash('sha256').update(manifest).digest('hex')}\n`);
  return Buffer.concat([
    archive.subarray(0, at),
    tarHeader('manifest.json', manifest.length),
    manifest,
    tarPadding(manifest.length),
    tarHeader('manifest.sha256', sum.length),
    sum,
    tarPadding(sum.length),
    Buffer.alloc(1_024),
  ]);
}
