import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { describe, expect } from 'vitest';
import { tarHeader, tarPadding } from '../../cli/archive/tar.ts';
import { createWorkspace } from '../../sql/workspaces/workspaces.ts';
import { makeLink } from '../support/ingest.ts';
import { archiveTest } from './fixtures.ts';
import { withManifest, withRows } from './forge.ts';
import { contentOf, importFrom, PROOFS, rowsIn } from './support.ts';

describe('what does not fit', () => {
  archiveTest(
    'a domain without its record is refused by name, or kept until it has one',
    async ({ moved: { path, fresh } }) => {
      const { stores } = await fresh();
      await expect(importFrom(path, stores)).rejects.toThrow(
        /not proven here:\n {2}go\.victim\.example: there is no TXT record _hoplog\.go\.victim\.example with the value hoplog/,
      );
      expect((await stores.pool.query('SELECT FROM workspaces')).rowCount).toBe(0);
      const kept = await importFrom(path, stores, { unproven: 'keep' });
      expect(kept.unproven).toMatchObject([{ domain: 'go.victim.example', is_default: false }]);
      const { rows } = await stores.pool.query('SELECT domain, status, proof FROM domains');
      expect(rows).toEqual([
        { domain: 'go.victim.example', status: 'pending', proof: 'hoplog-verification=test' },
      ]);
    },
  );

  archiveTest('a domain that is a host of the deployment is refused', async ({ moved: { path, fresh } }) => {
    const { stores } = await fresh();
    const config = {
      shortUrl: 'https://go.victim.example',
      publicUrl: 'https://go.victim.example',
      baseUrl: 'https://a.example',
      appUrl: 'https://a.example',
    };
    await expect(importFrom(path, stores, { config })).rejects.toThrow('must not be a host of this service');
  });

  archiveTest(
    'every cut and every changed byte is found before anything is stored',
    async ({ moved: { path, files, fresh } }) => {
      const { stores } = await fresh();
      const whole = readFileSync(path);
      const { size } = statSync(path);
      for (const bytes of [0, 100, 512, 1_000, Math.floor(size / 2), size - 2_000, size - 1_024]) {
        const cut = files.unused();
        copyFileSync(path, cut);
        truncateSync(cut, bytes);
        await expect(importFrom(cut, stores), `${bytes}`).rejects.toThrow(/cut off|not an archive/);
      }
      const changedAt = files.unused();
      for (let part = 1; part < 40; part++) {
        const at = Math.floor((part * size) / 40);
        const changed = Buffer.from(whole);
        changed[at] = (changed[at] ?? 0) ^ 1;
        writeFileSync(changedAt, changed);
        // A byte of the padding between files says nothing.
        const outcome = await importFrom(changedAt, stores, { dryRun: true, proofs: PROOFS }).then(
          () => 'taken',
          (error: Error) => error.message,
        );
        const isPadding = whole[at] === 0;
        if (!isPadding) expect(outcome, `byte ${at}`).toMatch(/changed|damaged|cut off|not an archive/);
      }
      expect((await stores.pool.query('SELECT FROM workspaces')).rowCount).toBe(0);
      expect((await stores.pool.query('SELECT FROM workspace_imports')).rowCount).toBe(0);
    },
  );

  archiveTest(
    'another file, and an archive of a newer release, are refused in words',
    async ({ moved: { path, files, fresh } }) => {
      const { stores } = await fresh();
      const text = files.unused();
      writeFileSync(text, 'slug,url\n'.repeat(200));
      await expect(importFrom(text, stores)).rejects.toThrow(
        'the file is not an archive of "hoplog export workspace"',
      );
      await expect(importFrom(`${text}.none`, stores)).rejects.toThrow(/cannot read .*ENOENT/);
      const newer = files.unused();
      const format = Buffer.from('{"format":"hoplog-workspace","version":2}');
      writeFileSync(
        newer,
        Buffer.concat([
          tarHeader('hoplog-workspace.json', format.length),
          format,
          tarPadding(format.length),
          Buffer.alloc(1_024),
        ]),
      );
      await expect(importFrom(newer, stores)).rejects.toThrow(
        'has format 2, and this release reads up to 1: upgrade this deployment first',
      );
      const column = files.unused();
      writeFileSync(
        column,
        withManifest(readFileSync(path), (manifest) => manifest.replace('"is_renewal"', '"is_removal"')),
      );
      await expect(importFrom(column, stores)).rejects.toThrow(
        /has \w+\.is_removal, which this release does not know: it was made by Hoplog 0; upgrade/,
      );
    },
  );

  archiveTest(
    'rows that name another workspace, or its rows, never reach it',
    async ({ moved: { path, files, fresh } }) => {
      const { stores } = await fresh();
      const victim = await createWorkspace(stores.pool, { name: 'Victim', plan: 'unlimited' });
      const forged = files.unused();
      const key = await rowsIn(path, 'api_keys');
      writeFileSync(
        forged,
        withRows(
          readFileSync(path),
          'api_keys',
          key.map((row) => ({ ...row, workspace_id: victim.id })),
        ),
      );
      await importFrom(forged, stores, { proofs: PROOFS });
      const { rows } = await stores.pool.query('SELECT FROM api_keys WHERE workspace_id = $1', [victim.id]);
      expect(rows).toHaveLength(0);

      const { stores: second } = await fresh();
      const { id } = await createWorkspace(second.pool, { name: 'Victim', plan: 'unlimited' });
      const link = await makeLink(second.pool, id, 'https://secret.example/', { slug: 'secret' });
      const { rows: campaigns } = await second.pool.query('SELECT destination_id FROM links WHERE id = $1', [
        link.id,
      ]);
      const links = (await rowsIn(path, 'links')).map((row) => ({
        ...row,
        destination_id: campaigns[0]?.destination_id,
      }));
      writeFileSync(forged, withRows(readFileSync(path), 'links', links));
      await expect(importFrom(forged, second, { proofs: PROOFS })).rejects.toThrow(
        'the archive has rows of links.destination_id that belong to another workspace',
      );
      expect((await second.pool.query('SELECT FROM workspaces')).rowCount).toBe(1);
    },
  );

  archiveTest(
    'an archive that tar has packed again is taken',
    async ({ moved: { shop, path, files, fresh } }) => {
      const { stores } = await fresh();
      const [directory, packed] = [files.unused(), files.unused()];
      mkdirSync(directory);
      execFileSync('tar', ['-xf', path, '-C', directory]);
      execFileSync('tar', ['-cf', packed, '-C', directory, '.']);
      expect((await importFrom(packed, stores, { proofs: PROOFS })).tables).toMatchObject({ workspaces: 1 });
      expect(await contentOf(await files.write(stores, shop.workspace.id))).toEqual(await contentOf(path));
    },
  );

  archiveTest(
    'an export never replaces a file, and leaves none when it fails',
    async ({ moved: { old, shop, path, files } }) => {
      const { pool } = old.stores;
      const taken = files.unused();
      writeFileSync(taken, 'mine');
      const { exportWorkspace } = await import('../../cli/archive/export-workspace.ts');
      const given = {
        pool,
        replica: old.stores.replicas[0],
        workspace: shop.workspace,
        shortUrl: 'https://hop.example',
        version: '0',
      };
      await expect(exportWorkspace({ ...given, path: taken })).rejects.toThrow('exists: choose another name');
      expect(readFileSync(taken, 'utf8')).toBe('mine');
      const failing = files.unused();
      const clickhouse = Object.assign(Object.create(old.stores.clickhouse), {
        exec: () => Promise.reject(new Error('ClickHouse is down')),
      });
      await expect(
        exportWorkspace({ ...given, replica: { name: 'main', clickhouse }, path: failing }),
      ).rejects.toThrow('ClickHouse is down');
      expect([existsSync(failing), existsSync(`${failing}.part`)]).toEqual([false, false]);
      expect(statSync(path).mode & 0o777).toBe(0o600);
    },
  );
});
