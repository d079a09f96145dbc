import { expect, test } from 'vitest';
import { anchorsOf, blocksOf, markdownFiles, readDocument } from '../docs/markdown.ts';
import { composeSettings, readComposeFile, readYaml } from './compose-file.ts';

const RUNBOOK = 'docs/operations/monitoring.md';

type AlertRule = { alert: string; labels: { severity: string }; annotations: { runbook_url: string } };

test('every alert leads to its section of the runbook, and every section to an alert', () => {
  const { groups } = readYaml('deploy/prometheus/alerts.yml') as { groups: { rules: AlertRule[] }[] };
  const rules = groups.flatMap((group) => group.rules);
  const anchors = anchorsOf(readDocument(RUNBOOK));
  for (const { alert, labels, annotations } of rules) {
    const [file, section = ''] = annotations.runbook_url.split('#');
    // The person on call may have no checkout.
    expect(file, alert).toBe(`https://github.com/hoplog/hoplog/blob/main/${RUNBOOK}`);
    expect(anchors, alert).toContain(section);
    expect(['page', 'ticket'], alert).toContain(labels.severity);
  }
  const runbook = readDocument(RUNBOOK).split('\n## Runbook\n')[1] ?? '';
  const linked = new Set(rules.map(({ annotations }) => annotations.runbook_url.split('#')[1]));
  const sections = [...anchorsOf(runbook)].filter((section) => !linked.has(section));
  expect(sections).toEqual([]);
});

test('a backup stops all workers, and a restore stops every writer', () => {
  const services = Object.keys(readComposeFile().services);
  const commands = blocksOf(readDocument('docs/operations/backup.md'), 'sh').join('\n');
  const stopped = [...commands.matchAll(/^docker compose stop (.*)$/gm)].map(([, names = '']) =>
    names.split(' ').toSorted(),
  );
  expect(stopped).toEqual([
    services.filter((name) => name.startsWith('workers-')).toSorted(),
    services.filter((name) => /^(nginx$|ingest-|api-|workers-)/.test(name)).toSorted(),
  ]);
});

test('every service that a command of a guide names is in docker-compose.yml', () => {
  const services = new Set(Object.keys(readComposeFile().services));
  const commands = markdownFiles().flatMap((path) => blocksOf(readDocument(path), 'sh'));
  const named = commands.flatMap((block) =>
    [
      ...block.matchAll(
        /docker compose (?:exec|run|logs|start|stop)((?: -[uw] \S+| -\S+| \w+=\S+)*)((?: [a-z]+(?:-\d)?\b)+)/g,
      ),
    ].flatMap(([command, , names = '']) =>
      / (start|stop) /.test(command) ? names.trim().split(' ') : names.trim().split(' ').slice(0, 1),
    ),
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !services.has(name))).toEqual([]);
});

test('an upgrade restarts every process that stores or serves clicks', () => {
  const commands = blocksOf(readDocument('docs/operations/upgrades.md'), 'sh').join('\n');
  const restarted = /^for service in (.*); do$/m.exec(commands)?.[1]?.split(' ') ?? [];
  const services = Object.keys(readComposeFile().services);
  expect(restarted.toSorted()).toEqual(
    services.filter((name) => /^(ingest|workers|api)-\d$/.test(name)).toSorted(),
  );
});

test('the ports that the guide names are the defaults', () => {
  const guide = readDocument('docs/operations/cluster.md');
  const settings = composeSettings();
  for (const name of ['REDIRECT_PORT', 'API_PORT', 'GRAFANA_PORT', 'PROMETHEUS_PORT']) {
    expect(guide).toContain(`http://127.0.0.1:${settings.get(name)}`);
  }
});
