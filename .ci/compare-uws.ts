import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/**
 * Finds the upstream release of uWebSockets.js that the installed binaries are from: downloads those of every release
 * of the major version 20, newest first, and compares SHA-256. Write the result into NOTICE.
 *
 *   node .ci/compare-uws.ts
 *
 * Needs access to github.com. Exits with 1 when a binary is from no release.
 */

const UPSTREAM = 'https://github.com/uNetworking/uWebSockets.js';
const FILES = ['uws_linux_x64_127.node', 'uws_linux_arm64_127.node', 'uws_darwin_arm64_127.node'];

const installed = new Map(
  FILES.map((file) => {
    const path = new URL(`../node_modules/uWebSockets.js/dist/bin/${file}`, import.meta.url);
    return [file, sha256(readFileSync(path))];
  }),
);
const refs = execFileSync('git', ['ls-remote', '--tags', UPSTREAM], { encoding: 'utf8' });
const releases = [...refs.matchAll(/refs\/tags\/(v20\.\d+\.\d+)$/gm)].map(([, tag]) => tag ?? '').reverse();

let missing = 0;
for (const [file, hash] of installed) {
  const release = await releaseWith(file, hash);
  process.stdout.write(`${file} sha256 ${hash}: ${release ?? 'from no release'}\n`);
  if (release === null) missing += 1;
}
process.exitCode = missing === 0 ? 0 : 1;

async function releaseWith(file: string, hash: string): Promise<string | null> {
  for (const release of releases) {
    const response = await fetch(`${UPSTREAM}/raw/${release}/${file}`);
    if (response.status === 404) continue;
    if (!response.ok) throw new Error(`${response.url} responded with ${response.status}`);
    if (sha256(Buffer.from(await response.arrayBuffer())) === hash) return release;
  }
  return null;
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
