import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { composeSettings, ROOT, readComposeFile, readYaml } from './compose-file.ts';

const guide = readFileSync(`${ROOT}docs/operations.md`, 'utf8');

/** An anchor as GitHub makes it of a heading. */
function anchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}

/** What a file says without its comments: a test that was only spoken of is none. */
function codeOf(path: string): string {
  return readFileSync(`${ROOT}docs/${path}`, 'utf8').replace(/^\s*(\/\/|\/?\*).*$/gm, '');
}

test('every row of the table of outages links, by its name, a test that exists', () => {
  const section = guide.split('## What an outage does')[1]?.split('\n## ')[0] ?? '';
  const rows = section.split('\n').filter((line) => /^\| (?!What is gone|---)/.test(line));
  expect(rows.length).toBeGreaterThan(25);
  for (const row of rows) {
    const shownBy = row.split(' | ').at(-1) ?? '';
    const tests = [...shownBy.matchAll(/\[([^\]]+)\]\((\.\.\/\S+\.test\.ts)\)/g)];
    expect(tests, row.slice(0, 60)).not.toEqual([]);
    const gone = tests.filter(([, name = '', path = '']) => !codeOf(path).includes(name));
    expect(gone.map(([link]) => link)).toEqual([]);
  }
});

test('what the guide says of backups links, by their names, tests that exist, and it stops all who write meanwhile', () => {
  const section = guide.split('## Backup and restore')[1]?.split('\n## ')[0] ?? '';
  const tests = [...section.matchAll(/\[([^\]]+)\]\((\.\.\/\S+\.test\.ts)\)/g)];
  expect(tests).toHaveLength(2);
  for (const [link, name = '', path = ''] of tests) expect(codeOf(path).includes(name), link).toBe(true);

  const services = Object.keys(readComposeFile().services);
  const stopped = [...section.matchAll(/^docker compose stop (.*)$/gm)].map(([, names = '']) =>
    names.split(' '),
  );
  expect(stopped.map((names) => names.toSorted())).toEqual([
    services.filter((name) => name.startsWith('workers-')).toSorted(),
    services.filter((name) => /^(nginx$|ingest-|api-|workers-)/.test(name)).toSorted(),
  ]);
});

test('every link of the guide leads to a file', () => {
  for (const [, path = ''] of guide.matchAll(/\]\((?!https?:)([^)#]+)/g)) {
    expect(existsSync(`${ROOT}docs/${path}`), path).toBe(true);
  }
});

test('every alert leads to its section of the guide', () => {
  const anchors = new Set([...guide.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchor(heading)));
  const { groups } = readYaml('deploy/prometheus/alerts.yml') as {
    groups: { rules: { alert: string; labels: { severity: string }; annotations: { runbook: string } }[] }[];
  };
  for (const { alert, labels, annotations } of groups.flatMap(({ rules }) => rules)) {
    const [file, section = ''] = annotations.runbook.split('#');
    expect(file, alert).toBe('docs/operations.md');
    expect(anchors, alert).toContain(section);
    expect(['page', 'ticket'], alert).toContain(labels.severity);
  }
});

test('the ports that the guide names are the defaults', () => {
  const settings = composeSettings();
  for (const name of ['REDIRECT_PORT', 'API_PORT', 'GRAFANA_PORT', 'PROMETHEUS_PORT']) {
    expect(guide).toContain(`http://127.0.0.1:${settings.get(name)}`);
  }
});
