import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { ROOT } from '../deploy/compose-file.ts';

const CHART = `${ROOT}deploy/helm/hoplog`;
const HERE = fileURLToPath(new URL('./', import.meta.url));

/** The reason why the chart can't be rendered here, or false where it can. */
export const NO_HELM =
  !existsSync(`${HERE}.helm/helm_python`) && 'no Helm is installed: bash test/chart/install-helm.sh';

export type Values = { [name: string]: string | number | boolean | string[] | number[] | object[] | Values };

export type Probe = {
  httpGet?: { path: string; port: string | number };
  periodSeconds?: number;
  timeoutSeconds?: number;
  failureThreshold?: number;
};
type KeyReference = { name: string; key: string; optional?: boolean };
export type EnvironmentVariable = {
  name: string;
  value?: string;
  valueFrom?: { fieldRef?: { fieldPath: string }; secretKeyRef?: KeyReference };
};
export type Container = {
  name: string;
  args?: string[];
  env?: EnvironmentVariable[];
  ports?: { name: string; containerPort: number }[];
  startupProbe?: Probe;
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  lifecycle?: { preStop?: { exec: { command: string[] } } };
  securityContext?: { readOnlyRootFilesystem?: boolean };
  resources?: { limits?: { memory?: string } };
  volumeMounts?: { name: string; mountPath: string; readOnly?: boolean }[];
};
type SecretItems = { items?: { key: string; path: string }[] };
export type Volume = {
  name: string;
  emptyDir?: object;
  configMap?: { name: string };
  secret?: { secretName: string; defaultMode?: number } & SecretItems;
  projected?: { defaultMode?: number; sources: { secret: { name: string } & SecretItems }[] };
};
export type PodSpec = {
  containers: Container[];
  initContainers?: Container[];
  volumes?: Volume[];
  securityContext?: { runAsUser?: number; runAsGroup?: number; fsGroup?: number };
  terminationGracePeriodSeconds?: number;
};
/** A resource of Kubernetes, with the fields that the tests read. */
export type Resource = {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  spec: {
    replicas?: number;
    template: {
      metadata: { labels: Record<string, string>; annotations?: Record<string, string> };
      spec: PodSpec;
    };
    selector: Record<string, string>;
    ports: { name: string; port: number; targetPort: string | number }[];
    volumeClaimTemplates?: { metadata: { name: string } }[];
    [field: string]: unknown;
  };
  data?: Record<string, string>;
};

export type Rendering = {
  /** Resources of all templates. */
  resources: Resource[];
  /** Text of NOTES.txt. */
  notes: string;
};

/** Helm's output by its input: it takes half a second. */
const printed = new Map<string, string>();

/**
 * Renders the chart with Helm's own engine.
 *
 * @param name of the release
 * @throws Error with Helm's message when the values are refused
 */
export function renderChart(values: Values, { isUpgrade = false, name = 'hoplog' } = {}): Rendering {
  const input = JSON.stringify({ chart: CHART, values, isUpgrade, name });
  const output = printed.get(input) ?? runHelm(input);
  printed.set(input, output);
  const templates = Object.entries(JSON.parse(output) as Record<string, string>);
  const isNotes = ([name]: [string, string]) => name.endsWith('NOTES.txt');
  const manifests = templates.filter((template) => !isNotes(template)).map(([, text]) => text);
  return { resources: resourcesOf(manifests.join('\n---\n')), notes: templates.find(isNotes)?.[1] ?? '' };
}

function runHelm(input: string): string {
  const { status, stdout, stderr } = spawnSync('python3', [`${HERE}render.py`], { input, encoding: 'utf8' });
  if (status !== 0) throw new Error(`the chart was not rendered: ${stderr}`);
  return stdout;
}

/** Returns the resources of a text with YAML documents. */
export function resourcesOf(text: string): Resource[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Resource | null)
    .filter((one) => one !== null);
}

/** Returns the resource of that kind and name. */
export function findResource(all: Resource[], kind: string, name: string): Resource {
  const found = all.find((one) => one.kind === kind && one.metadata.name === name);
  if (!found) throw new Error(`the chart renders no ${kind} ${name}`);
  return found;
}
