import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

type Schema = {
  type?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  items?: Schema;
  oneOf?: Schema[];
  [extension: string]: unknown;
};
type Definition = {
  kind: string;
  spec: {
    group: string;
    names: { kind: string };
    versions: { name: string; schema: { openAPIV3Schema: Schema } }[];
  };
};

/**
 * Writes the schema of every version of the CustomResourceDefinitions in a folder, for kubeconform. A field that a
 * definition does not name is an error, as the API server drops it.
 *
 * @returns the kinds
 */
export function writeCrdSchemas(folder: string, target: string): Set<string> {
  const kinds = new Set<string>();
  mkdirSync(target, { recursive: true });
  for (const name of readdirSync(folder).filter((file) => /\.ya?ml$/.test(file))) {
    for (const document of parseAllDocuments(readFileSync(join(folder, name), 'utf8'))) {
      const definition = document.toJS() as Definition | null;
      if (definition?.kind !== 'CustomResourceDefinition') continue;
      const { group, names, versions } = definition.spec;
      for (const { name: version, schema } of versions) {
        const file = `${names.kind.toLowerCase()}-${group}-${version}.json`;
        writeFileSync(join(target, file), JSON.stringify(strict(schema.openAPIV3Schema, true)));
      }
      kinds.add(names.kind);
    }
  }
  return kinds;
}

function strict(schema: Schema, isRoot = false): Schema {
  const { 'x-kubernetes-int-or-string': isIntOrString, format: _, ...given } = schema;
  const result: Schema = isIntOrString ? { oneOf: [{ type: 'string' }, { type: 'integer' }] } : { ...given };
  if (given.properties) {
    result.properties = Object.fromEntries(
      Object.entries(given.properties).map(([name, inner]) => [name, strict(inner)]),
    );
    const isOpen = given['x-kubernetes-preserve-unknown-fields'] === true;
    // `metadata` of a definition is only its type; the API server knows its fields.
    if (isRoot) result.properties.metadata = { type: 'object' };
    if (!isOpen) result.additionalProperties = false;
  }
  if (given.items) result.items = strict(given.items);
  if (typeof given.additionalProperties === 'object')
    result.additionalProperties = strict(given.additionalProperties);
  return result;
}

/**
 * Writes the strict schema of each Kubernetes kind with the definitions that it refers to: kubeconform follows no
 * reference to another file.
 *
 * @param source folder of the package kubernetes-validate for one version of Kubernetes
 * @param resources as they are rendered
 */
export function writeKubernetesSchemas(
  source: string,
  target: string,
  resources: readonly { apiVersion: string; kind: string }[],
): void {
  const read = (name: string) =>
    JSON.parse(readFileSync(join(source, name), 'utf8').replaceAll(/"[\w./]*_definitions\.json#/g, '"#'));
  const { $defs } = read('_definitions.json');
  mkdirSync(target, { recursive: true });
  const names = resources.map(({ apiVersion, kind }) => {
    const [group = '', version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
    return [kind.toLowerCase(), group.split('.')[0], version].filter(Boolean).join('-');
  });
  for (const name of new Set(names)) {
    const file = `${name}.json`;
    if (!existsSync(join(source, file))) continue;
    writeFileSync(join(target, file), JSON.stringify({ ...read(file), $defs }));
  }
}
