import { benchmark } from './harness/bench.ts';
import { packageVersion } from './harness/machine.ts';
import { readOptions } from './harness/options.ts';
import { cpuSeconds, family, leaveCore0 } from './harness/processes.ts';
import { median, report, spread } from './harness/report.ts';
import { alternate, type Contestant, ofContestant } from './harness/rounds.ts';
import { ratios } from './harness/statistics.ts';
import { makeDatabase, startPostgres } from './harness/stores.ts';
import { startTier } from './harness/tier.ts';
import { withAnotherPeer } from './load/another-peer.ts';
import { clicksOnLinks } from './load/clicks-on-links.ts';
import { quickestGenerator } from './load/generator.ts';
import { h2oVersion, startH2o } from './servers/h2o.ts';
import { type RedirectTier, requireJournaled, startRedirectTier } from './servers/ingest.ts';
import { nginxVersion, startNginx } from './servers/nginx.ts';

/**
 * Measures the redirects per second of one ingest process on one core, with each click in the journal before its
 * response, beside nginx on the same core.
 *
 *   node bench/redirect.ts [--rounds 5] [--seconds 8] [--connections 64] [--links 1000] [--sync 5ms] [--profile DIR]
 *
 * The measured process has core 0, the load core 1. Visitors come through a proxy that sends their addresses; in the
 * second row they connect directly, so the process looks up the address of each peer. Both nginx write an access log:
 * one per request, the default, which survives `kill -9` as our journal does, and one buffered, which does not. h2o is
 * measured when it is installed, with its access log, a write per request. uWebSockets.js alone reads the same fields
 * and responds at the same time; it is the upper limit.
 */

const options = readOptions({ seconds: 8, connections: 64, links: 1_000, sync: '5ms', profile: '' });
const OURS = 'hoplog, journaled';
const DIRECT = 'hoplog, visitors come themselves';
const NGINX = 'nginx, access_log';
const BUFFERED = 'nginx, access_log buffer=64k';
const H2O = 'h2o, access-log';
const BARE = 'uWebSockets.js alone, no journal';

/** The generator acts as the proxy. */
const TRUSTING = { TRUST_PROXY: '127.0.0.1' };

/** A server with an access log. */
type Logged = { port: number; pid: number; emptyLog(): void };
type Turn = { perSecond: number; perCpuSecond: number; p50: number; p99: number };

await benchmark(async (bench) => {
  leaveCore0();
  const postgres = await startPostgres(bench);
  const database = await makeDatabase(bench, postgres.url, 'redirect');
  const { links, sync, profile, connections, seconds } = options;
  const given = { links, cores: '0', sync, profile };
  const behindProxy = await startRedirectTier(bench, database, { ...given, name: 'redirect', env: TRUSTING });
  const other = await makeDatabase(bench, postgres.url, 'direct');
  const direct = await startRedirectTier(bench, other, { ...given, name: 'direct' });
  const each = await startNginx(bench, 'each', '0');
  const buffered = await startNginx(bench, 'buffered', '0');
  const h2o = await startH2o(bench, '0');
  const bare = await startTier(bench, { script: 'bench/servers/bare-uws.ts', cores: '0' });
  const generator = quickestGenerator(bench);
  const proxied = clicksOnLinks(links, true);
  const answered = new Map<number, number>();

  async function turn(server: { port: number; pid: number }, clicks = proxied): Promise<Turn> {
    const cpu = () => family(server.pid).reduce((sum, pid) => sum + cpuSeconds(pid), 0);
    const before = cpu();
    const plan = { port: server.port, connections, seconds, warmUpSeconds: 0, rate: null, ...clicks };
    const { total, failed, perSecond, p50, p99 } = await generator.drive(plan, '1');
    if (failed > 0) throw new Error(`${failed} of ${total} requests failed`);
    answered.set(server.pid, (answered.get(server.pid) ?? 0) + total);
    return { perSecond, perCpuSecond: total / (cpu() - before), p50, p99 };
  }

  async function ours(tier: RedirectTier, clicks = proxied): Promise<Turn> {
    const turned = await turn(tier, clicks);
    await requireJournaled(tier, answered.get(tier.pid) ?? 0);
    return turned;
  }

  async function logged(server: Logged): Promise<Turn> {
    const turned = await turn(server);
    server.emptyLog();
    return turned;
  }

  const contestants: Contestant<Turn>[] = [
    { name: OURS, measure: () => ours(behindProxy) },
    { name: DIRECT, measure: () => withAnotherPeer(direct.port, () => ours(direct, clicksOnLinks(links))) },
    { name: NGINX, measure: () => logged(each) },
    { name: BUFFERED, measure: () => logged(buffered) },
    ...(h2o ? [{ name: H2O, measure: () => logged(h2o) }] : []),
    { name: BARE, measure: () => turn({ port: Number(bare.ready.port), pid: bare.pid }) },
  ];
  for (const { measure } of contestants) await measure(-1); // Warm-up of caches and compilers.
  const measured = await alternate(options.rounds, contestants);
  await Promise.all([behindProxy.stop(), direct.stop()]); // The profile is written at exit.
  const of = (name: string, key: keyof Turn) => ofContestant(measured, name).map((one) => one[key]);
  const against = (peer: string, one = OURS) => ratios(of(one, 'perSecond'), of(peer, 'perSecond'));
  report(options.results, {
    name: 'redirect',
    title: `Redirects a second on one core, ${connections} keep-alive connections, ${links} links, JOURNAL_SYNC=${sync}`,
    versions: [
      packageVersion('uWebSockets.js'),
      nginxVersion(),
      ...(h2o ? [h2oVersion()] : []),
      generator.version,
    ],
    tables: [
      {
        header: ['server', 'redirects/s', 'redirects a CPU second', 'p50 ms', 'p99 ms'],
        rows: contestants.map(({ name }) => [
          name,
          spread(of(name, 'perSecond')),
          spread(of(name, 'perCpuSecond')),
          spread(of(name, 'p50'), 2),
          spread(of(name, 'p99'), 2),
        ]),
      },
      {
        header: ['redirects/s, round by round', 'ratio', 'wanted'],
        rows: [
          ['hoplog / nginx', spread(against(NGINX), 2), '1.00'],
          ['the same, visitors come themselves', spread(against(NGINX, DIRECT), 2), ''],
          ['hoplog / nginx with a buffer', spread(against(BUFFERED), 2), ''],
          ...(h2o ? [['hoplog / h2o', spread(against(H2O), 2), '']] : []),
          ['hoplog / uWebSockets.js alone', spread(against(BARE), 2), ''],
        ],
      },
    ],
    figures: {
      redirects_per_second: median(of(OURS, 'perSecond')),
      redirects_per_cpu_second: median(of(OURS, 'perCpuSecond')),
      redirects_over_nginx: median(against(NGINX)),
      redirects_direct_per_second: median(of(DIRECT, 'perSecond')),
      redirects_direct_over_nginx: median(against(NGINX, DIRECT)),
      ...(h2o ? { redirects_over_h2o: median(against(H2O)) } : {}),
      redirects_over_bare: median(against(BARE)),
    },
  });
});
