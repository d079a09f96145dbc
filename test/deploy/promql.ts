import { readdirSync, readFileSync } from 'node:fs';
import type { SyntaxNode } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';
import { ROOT, readYaml } from './compose-file.ts';

export type Matcher = { label: string; operator: string; value: string };
export type Selector = { metric: string; matchers: Matcher[] };
export type Query = {
  selectors: Selector[];
  /** For each aggregation, the labels it groups by and the metrics under it. */
  groupings: { labels: string[]; metrics: string[] }[];
};

/** @throws SyntaxError naming the position that is not PromQL */
export function parseQuery(expression: string): Query {
  const text = expression.replaceAll('$__rate_interval', '1m').replaceAll('$release', '.*');
  const query: Query = { selectors: [], groupings: [] };
  const of = (node: SyntaxNode) => text.slice(node.from, node.to);
  const root = parser.parse(text).topNode;
  walk(root, (node) => {
    if (node.type.isError) throw new SyntaxError(`${text} (at ${node.from}) is not PromQL`);
    if (node.name === 'VectorSelector') query.selectors.push(selector(node, of));
    if (node.name === 'AggregateExpr') {
      const labels = node.getChild('AggregateModifier')?.getChild('GroupingLabels')?.getChildren('LabelName');
      const metrics: string[] = [];
      walk(node, (inner) => {
        if (inner.name === 'VectorSelector') metrics.push(selector(inner, of).metric);
      });
      query.groupings.push({ labels: (labels ?? []).map(of), metrics });
    }
  });
  return query;
}

function selector(node: SyntaxNode, of: (node: SyntaxNode) => string): Selector {
  const identifier = node.getChild('Identifier');
  const matchers = node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? [];
  return {
    metric: identifier ? of(identifier) : '',
    matchers: matchers.map((matcher) => {
      const [label, operator, value] = ['LabelName', 'MatchOp', 'StringLiteral'].map((name) => {
        const part = matcher.getChild(name);
        return part ? of(part) : '';
      });
      return { label: label ?? '', operator: operator ?? '', value: (value ?? '').slice(1, -1) };
    }),
  };
}

function walk(node: SyntaxNode, visit: (node: SyntaxNode) => void): void {
  visit(node);
  for (let child = node.firstChild; child; child = child.nextSibling) walk(child, visit);
}

/** Returns every expression of the alerts and of the dashboards, by location. */
export function monitoringQueries(): Map<string, string> {
  const queries = new Map<string, string>();
  const alerts = readYaml('deploy/prometheus/alerts.yml') as {
    groups: { rules: { alert: string; expr: string }[] }[];
  };
  for (const { alert, expr } of alerts.groups.flatMap(({ rules }) => rules))
    queries.set(`alert ${alert}`, expr);
  const folder = `${ROOT}deploy/grafana/dashboards/`;
  for (const file of readdirSync(folder)) {
    const { panels } = JSON.parse(readFileSync(`${folder}${file}`, 'utf8')) as {
      panels: { title: string; targets?: { refId: string; expr: string }[] }[];
    };
    for (const { title, targets = [] } of panels) {
      for (const { refId, expr } of targets) queries.set(`panel ${title} ${refId}`, expr);
    }
  }
  return queries;
}
