/** JSON schemas of Kubernetes objects, generated from the Go modules of Kubernetes, Gateway API and Prometheus' operator. */

import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import * as z from 'zod';
import { isMapping } from '../../../src/lib/is-mapping.ts';

/** Each by the sum that it had when it was looked at. */
const modules = {
  kubernetes: ['k8s.io/kubernetes@v1.36.1', 'h1:Mt7NKigaZ2KmOmCLhX81lGlH9JU5wjXnYhXnxAun9XA='],
  gateway: ['sigs.k8s.io/gateway-api@v1.3.0', 'h1:q6okN+/UKDATola4JY7zXzx40WO4VISk7i9DIfOvr9M='],
  operator: [
    'github.com/prometheus-operator/prometheus-operator@v0.91.0',
    'h1:rb4MKt5MlpYyDOzgGv1P8zhiHDxJrgQ6p6zhsIc+7ys=',
  ],
} as const;

const definitions = z.object({ definitions: z.record(z.string(), z.looseObject({})) });
const kinds = z.array(z.object({ kind: z.string(), version: z.string() }));
const customKind = z.object({
  spec: z.object({
    names: z.object({ kind: z.string() }),
    versions: z.array(
      z.object({ name: z.string(), schema: z.object({ openAPIV3Schema: z.record(z.string(), z.unknown()) }) }),
    ),
  }),
});

/** The files in `directory`, in kubeconform's layout. */
export async function writeSchemas(directory: string): Promise<string> {
  const swagger = await readFile(join(await fetchModule('kubernetes'), 'api/openapi-spec/swagger.json'), 'utf8');
  const all = definitions.parse(JSON.parse(swagger)).definitions;
  const write = (kind: string, version: string, schema: unknown): Promise<void> =>
    writeFile(join(directory, `${kind.toLowerCase()}_${version}.json`), JSON.stringify(schema));
  for (const [name, definition] of Object.entries(all)) {
    for (const { kind, version } of kinds.safeParse(definition['x-kubernetes-group-version-kind']).data ?? []) {
      // What many kinds share, such as the options of a deletion, is sent and never written.
      if (!isMapping(definition.properties) || definition.properties.metadata === undefined) continue;
      await write(kind, version, { $ref: `#/definitions/${name}`, definitions: reachedFrom(name, all) });
    }
  }
  const crds = [
    join(await fetchModule('gateway'), 'config/crd/standard/gateway.networking.k8s.io_httproutes.yaml'),
    join(await fetchModule('operator'), 'example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml'),
  ];
  for (const file of crds) {
    const { spec } = customKind.parse(parse(await readFile(file, 'utf8')));
    for (const { name, schema } of spec.versions) await write(spec.names.kind, name, strict(schema.openAPIV3Schema));
  }
  return join(directory, '{{ .ResourceKind }}_{{ .ResourceAPIVersion }}.json');
}

async function fetchModule(name: keyof typeof modules): Promise<string> {
  const [module, sum] = modules[name];
  const { stdout } = await promisify(execFile)('go', ['mod', 'download', '-json', module], { cwd: '/' });
  const fetched = z.object({ Dir: z.string(), Sum: z.string() }).parse(JSON.parse(stdout));
  if (fetched.Sum !== sum) throw new Error(`${module} is another one than it was: ${fetched.Sum}`);
  return fetched.Dir;
}

/** A definition and all that it refers to. */
function reachedFrom(first: string, all: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const reached: Record<string, unknown> = {};
  const waiting = [first];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (reached[name] !== undefined) continue;
    reached[name] = strict(all[name]);
    for (const [, next = ''] of JSON.stringify(all[name]).matchAll(/"#\/definitions\/([^"]+)"/g)) waiting.push(next);
  }
  return reached;
}

/** Names that a cluster would pass over in silence are faults, and numbers may stand where they may there. */
function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict);
  if (!isMapping(schema)) return schema;
  if (schema.format === 'int-or-string') return { oneOf: [{ type: 'string' }, { type: 'integer' }] };
  const each = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, strict(value)]));
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true || schema.additionalProperties !== undefined;
  return isMapping(schema.properties) && schema.type === 'object' && !isOpen
    ? { ...each, additionalProperties: false }
    : each;
}
