/**
 * `npm run release:check`: builds everything that a release publishes, in `dist/release`, and tests it. Publishes
 * nothing. The workflow of tags runs it too, and publishes these files.
 *
 * --tag vX.Y.Z   fails unless the version is this one and CHANGELOG.md has its section
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { ROOT_DIR } from '../programs/programs.ts';
import { changelogSection } from './changelog.ts';
import { writePackage } from './package.ts';
import { packSdks, sdkVersions } from './sdks.ts';

const OUT = join(ROOT_DIR, 'dist/release');
const CHART = join(ROOT_DIR, 'deploy/helm/hoplog');
/** PATH, with the directory in which `npm run chart:check` installs helm. */
const HELM_PATH = [process.env.PATH, join(ROOT_DIR, 'test/chart/.tools')].join(delimiter);
/** A port that nothing listens on: `hoplog status` must report each part as down, not fail. */
const NOTHING = '127.0.0.1:9';

const say = (text: string) => process.stdout.write(`${text}\n`);
const run = (command: string, args: string[], cwd = ROOT_DIR) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

function assertVersions(tag: string | undefined): string {
  const { version } = JSON.parse(readFileSync(join(ROOT_DIR, 'package.json'), 'utf8')) as { version: string };
  if (tag !== undefined && tag !== `v${version}`) {
    throw new Error(`tag ${tag}: package.json has version ${version}, so the tag must be v${version}`);
  }
  const chart = parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8')) as {
    version: string;
    appVersion: string;
  };
  for (const name of ['version', 'appVersion'] as const) {
    if (chart[name] !== version) throw new Error(`Chart.yaml: ${name} is ${chart[name]}, must be ${version}`);
  }
  for (const [file, own] of Object.entries(sdkVersions())) {
    if (own !== version) throw new Error(`${file}: version is ${own}, must be ${version}`);
  }
  return version;
}

/** Writes the release notes: the section of the version, or of the unreleased changes without a tag. */
function writeNotes(version: string, isTagged: boolean): void {
  const changelog = readFileSync(join(ROOT_DIR, 'CHANGELOG.md'), 'utf8');
  const notes = changelogSection(changelog, isTagged ? version : 'Unreleased');
  writeFileSync(join(OUT, 'notes.md'), notes);
  say(`notes.md: ${notes.split('\n').length - 1} lines of CHANGELOG.md`);
}

/** Packs the command, installs the archive in an empty folder, and runs it there. */
async function tryPackage(version: string): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'hoplog-release-'));
  try {
    await writePackage(join(home, 'package'));
    run('npm', ['pack', '--silent', '--pack-destination', OUT], join(home, 'package'));
    const archive = join(OUT, `hoplog-${version}.tgz`);
    const fresh = join(home, 'fresh');
    mkdirSync(fresh);
    writeFileSync(join(fresh, 'package.json'), '{}');
    run('npm', ['install', '--silent', '--no-audit', '--no-fund', archive], fresh);
    const command = join(fresh, 'node_modules/.bin/hoplog');
    // The first `node` of PATH starts the command, so it must be this one.
    const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter);
    const printed = execFileSync(command, ['--version'], { env: { PATH }, encoding: 'utf8' }).trim();
    if (printed !== version) throw new Error(`hoplog --version printed ${printed}, must be ${version}`);
    const env = {
      PATH,
      DATABASE_URL: `postgres://${NOTHING}/hoplog`,
      CLICKHOUSE_URL: `http://${NOTHING}`,
      SHORT_URL: `http://${NOTHING}`,
      BASE_URL: `http://${NOTHING}`,
    };
    const status = spawnSync(command, ['status'], { cwd: fresh, env, encoding: 'utf8' });
    if (status.status !== 1 || !/^postgres +DOWN/m.test(status.stdout)) {
      throw new Error(
        `hoplog status does not report databases that are down:\n${status.stdout}${status.stderr}`,
      );
    }
    say(`hoplog-${version}.tgz: installed in an empty folder; hoplog --version and hoplog status ran`);
  } finally {
    rmSync(home, { recursive: true });
  }
}

function packageChart(version: string): void {
  const env = { ...process.env, PATH: HELM_PATH };
  const helm = spawnSync('helm', ['package', CHART, '--destination', OUT], { env, encoding: 'utf8' });
  if (helm.error) {
    say('chart: skipped, helm is not installed ("npm run chart:check" installs it)');
    return;
  }
  if (helm.status !== 0) throw new Error(`helm package failed:\n${helm.stderr}`);
  const name = `hoplog-chart-${version}.tgz`;
  run('mv', [join(OUT, `hoplog-${version}.tgz`), join(OUT, name)]);
  const files = run('tar', ['-tzf', join(OUT, name)]).split('\n');
  for (const file of [
    'hoplog/files/alerts.yml',
    'hoplog/files/dashboard.json',
    'hoplog/values.schema.json',
  ]) {
    if (!files.includes(file)) throw new Error(`${name} has no ${file}`);
  }
  say(`${name}: ${files.length - 1} files`);
}

function buildImage(version: string): void {
  if (spawnSync('docker', ['info'], { stdio: 'ignore' }).status !== 0) {
    say('image: skipped, no container engine responds ("npm run test:containers" starts one)');
    return;
  }
  run('docker', ['build', '--quiet', '--tag', `hoplog:${version}`, '.']);
  const printed = run('docker', ['run', '--rm', `hoplog:${version}`, 'hoplog', '--version']).trim();
  if (printed !== version)
    throw new Error(`hoplog --version in the image printed ${printed}, must be ${version}`);
  say(`image: built for this machine; hoplog --version ran in it`);
}

function writeChecksums(): void {
  const names = readdirSync(OUT).filter((name) => /\.(tgz|whl)$/.test(name));
  const lines = names.sort().map((name) => {
    const sum = createHash('sha256')
      .update(readFileSync(join(OUT, name)))
      .digest('hex');
    return `${sum}  ${name}\n`;
  });
  writeFileSync(join(OUT, 'SHA256SUMS'), lines.join(''));
  run('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], OUT);
  say(`SHA256SUMS: ${names.join(', ')}`);
}

const { values } = parseArgs({ options: { tag: { type: 'string' } } });
const version = assertVersions(values.tag);
rmSync(OUT, { recursive: true, force: true });
mkdirSync(OUT, { recursive: true });
writeNotes(version, values.tag !== undefined);
// The chart comes first, because helm and npm give their archives the same name.
packageChart(version);
await tryPackage(version);
for (const packed of packSdks(OUT, version)) say(packed);
buildImage(version);
writeChecksums();
