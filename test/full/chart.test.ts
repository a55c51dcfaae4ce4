/** The Helm chart: judged by helm, by what a cluster takes of each kind, and by the gateway that it starts. No cluster is here. */

import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse, parseAllDocuments } from 'yaml';
import * as z from 'zod';
import { writeSchemas } from '../support/charts/schemas.ts';
import { launcher } from '../support/gateways/gateway-process.ts';

const run = promisify(execFile);
const chart = fileURLToPath(new URL('../../deploy/chart', import.meta.url));
const source = fileURLToPath(new URL('charts', import.meta.url));
const programs = fileURLToPath(new URL('../../node_modules/.cache/postern-charts', import.meta.url));
const tools = ['helm.sh/helm/v3/cmd/helm', 'github.com/yannh/kubeconform/cmd/kubeconform'];
/** Where CI is set it is never left out: the build fails there. */
const whyNot =
  process.env.CI !== 'true' && spawnSync('go', ['version']).error !== undefined ? 'Go is not installed' : false;

const peer = { namespaceSelector: { matchLabels: { name: 'n' } } };
const secrets = {
  existingSecrets: {
    store: { name: 'db', key: 'url' },
    redis: { name: 'counts', key: 'url' },
    secretKey: { name: 'seal', key: 'key' },
    consoleToken: { name: 'watch', key: 'token' },
  },
};
/** What may be switched on, each by itself and with all the others. */
const parts: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  image: {
    image: { repository: 'registry.example/postern', digest: `sha256:${'a'.repeat(64)}`, pullSecrets: ['pull'] },
  },
  replicas: { replicas: 3 },
  ownConfiguration: { existingConfigMap: 'mine' },
  variables: { env: { NODE_EXTRA_CA_CERTS: '/ca.pem' }, envFrom: ['providers'], secretFiles: ['openai', 'azure'] },
  disk: { data: { persistentVolumeClaim: { claimName: 'disk' } }, strategy: { type: 'Recreate' } },
  noMigrations: { migrations: { enabled: false } },
  noPreStop: { drain: { preStop: 0 } },
  balancer: { service: { type: 'LoadBalancer', annotations: { a: 'b' } } },
  ingress: {
    ingress: {
      enabled: true,
      className: 'nginx',
      hosts: ['a.example', 'b.example'],
      tlsSecret: 'tls',
      annotations: { a: 'b' },
    },
  },
  route: {
    httpRoute: { enabled: true, parentRefs: [{ name: 'gateway' }], hostnames: ['a.example'], annotations: { a: 'b' } },
  },
  autoscaling: { autoscaling: { enabled: true, minReplicas: 2, maxReplicas: 20 } },
  noBudget: { podDisruptionBudget: { enabled: false } },
  percentage: { podDisruptionBudget: { maxUnavailable: '25%' } },
  watched: { serviceMonitor: { enabled: true, labels: { release: 'prometheus' } } },
  policy: { networkPolicy: { enabled: true, clients: [peer], watchers: [peer], egress: [{ to: [peer] }] } },
  account: { serviceAccount: { create: false, name: 'mine' } },
  cloudRole: { serviceAccount: { create: true, annotations: { 'eks.amazonaws.com/role-arn': 'arn' } } },
  placed: {
    nodeSelector: { disk: 'fast' },
    tolerations: [{ key: 'a', operator: 'Exists' }],
    affinity: { nodeAffinity: {} },
    priorityClassName: 'high',
    topologySpread: false,
    podAnnotations: { a: 'b' },
    podLabels: { team: 'search' },
  },
};
const everything = Object.assign({}, secrets, ...Object.values(parts));
const example = readFileSync(new URL('../../examples/kubernetes/values.yaml', import.meta.url), 'utf8');
const matrix: readonly object[] = [
  {},
  z.looseObject({}).parse(parse(example)),
  secrets,
  everything,
  ...Object.values(parts).map((part) => ({ ...secrets, ...part })),
  ...Object.keys(parts).map((left) =>
    Object.assign({}, secrets, ...Object.entries(parts).flatMap(([name, part]) => (name === left ? [] : [part]))),
  ),
];

const container = z.object({ env: z.array(z.object({ name: z.string(), value: z.string() })) });
const workload = z.object({
  kind: z.enum(['Deployment', 'Job']),
  spec: z.object({ template: z.object({ spec: z.object({ containers: z.tuple([container]) }) }) }),
});
const configMap = z.object({ kind: z.literal('ConfigMap'), data: z.object({ 'postern.yaml': z.string() }) });

// Where nothing of them was compiled before, it takes minutes.
test('helm and kubeconform are built', { skip: whyNot, timeout: 900_000 }, async () => {
  await mkdir(programs, { recursive: true });
  await run('go', ['build', '-o', `${programs}/`, ...tools], { cwd: source });
});

test('helm lint finds no fault in the chart, with any features enabled', { skip: whyNot }, async (t) => {
  const directory = await makeDirectory(t);
  for (const values of matrix) {
    const file = await writeValues(directory, values);
    await run(join(programs, 'helm'), ['lint', '--strict', '--quiet', '--values', file, chart]);
  }
});

test('a cluster accepts every object of the chart without unknown fields', { skip: whyNot }, async (t) => {
  const directory = await makeDirectory(t);
  const schemas = await writeSchemas(directory);
  const judge = (text: string) => {
    const args = ['-strict', '-summary', '-schema-location', schemas];
    const { status, stdout, stderr } = spawnSync(join(programs, 'kubeconform'), args, {
      input: text,
      encoding: 'utf8',
    });
    return { status, said: `${stdout}${stderr}` };
  };
  const made = await Promise.all(matrix.map(async (values) => template(directory, values)));
  const { status, said } = judge(made.join('\n---\n'));
  t.diagnostic(`${matrix.length} sets of values: ${said.trim()}`);
  assert.equal(status, 0, said);
  const kindsMade = new Set(made.flatMap((text) => [...text.matchAll(/^kind: (\w+)$/gm)].map(([, kind]) => kind)));
  assert.equal(kindsMade.size, 11, [...kindsMade].join());
  // The judge sees what is wrong.
  const [defaults = ''] = made;
  assert.match(judge(defaults.replace('readinessProbe:', 'readynessProbe:')).said, /readynessProbe/);
  assert.equal(judge(defaults.replace('containerPort: 4000', 'containerPort: http')).status, 1);
});

test('a Recreate strategy has no rollingUpdate, which a cluster refuses beside it', { skip: whyNot }, async (t) => {
  const directory = await makeDirectory(t);
  const made = await template(directory, { ...secrets, ...parts.disk });
  assert.match(made, /\n {2}strategy:\n {4}type: Recreate\n {2}selector:/);
  assert.match(await template(directory, secrets), /\n {2}strategy:\n {4}rollingUpdate:\n {6}maxSurge: 1\n/);
});

test('invalid or conflicting values are refused by name', { skip: whyNot }, async (t) => {
  const directory = await makeDirectory(t);
  for (const [values, fault] of [
    [{ replica: 2 }, /replica/],
    [{ replicas: 2 }, /existingSecrets\.store\.name: several replicas need one PostgreSQL/],
    [{ ...secrets, ingress: { enabled: true } }, /ingress/],
    [{ ...secrets, httpRoute: { enabled: true, timeout: '15 minutes' } }, /timeout/],
    [{ serviceMonitor: { enabled: true } }, /existingSecrets\.consoleToken\.name/],
    [
      { ...secrets, autoscaling: { enabled: true, minReplicas: 20 } },
      /autoscaling\.minReplicas: more than maxReplicas/,
    ],
  ] as const) {
    await assert.rejects(template(directory, values), fault);
  }
});

test('the gateway accepts the variables and configuration from the chart', { skip: whyNot }, async (t) => {
  const directory = await makeDirectory(t);
  const config = {
    upstreams: [{ id: 'openai', family: 'openai', api_key_file: '/run/secrets/postern/openai/key' }],
    models: [{ id: 'm', operations: ['embeddings'], targets: [{ upstream: 'openai' }] }],
  };
  const made = await template(directory, { ...secrets, config, secretFiles: ['openai'] });
  const documents = parseAllDocuments(made).map((document): unknown => document.toJS());
  const at = (text: string): string => text.replaceAll('/run/secrets/postern', join(directory, 'secrets'));
  const own = {
    store: `sqlite:${join(directory, 'postern.db')}`,
    redis: 'redis://counts:6379',
    secretKey: 'ab'.repeat(32),
    consoleToken: 'a-token-with-enough-characters',
  };
  const files = { 'openai/key': 'sk-of-the-upstream-of-this-test', store: own.store };
  const named = Object.fromEntries(Object.entries(own).map(([name, value]) => [`own/${name}`, value]));
  for (const [name, text] of Object.entries({ ...named, ...files })) {
    await mkdir(dirname(join(directory, 'secrets', name)), { recursive: true });
    await writeFile(join(directory, 'secrets', name), text);
  }
  const written = documents.map((document) => configMap.safeParse(document).data).find((one) => one !== undefined);
  const file = join(directory, 'postern.yaml');
  await writeFile(file, at(written?.data['postern.yaml'] ?? ''));

  for (const [kind, args] of [
    ['Job', ['migrate']],
    ['Deployment', ['check', '--config', file]],
  ] as const) {
    const found = documents.map((document) => workload.safeParse(document).data).find((one) => one?.kind === kind);
    const variables = found?.spec.template.spec.containers[0].env ?? [];
    assert.ok(variables.length > 0);
    const env = Object.fromEntries(variables.map(({ name, value }) => [name, at(value)]));
    const { stdout, stderr } = await run(launcher, [...args], {
      cwd: directory,
      env: { PATH: process.env.PATH, ...env },
    });
    t.diagnostic(`${kind}: ${stdout.trim().split('\n').at(-1)}`);
    assert.equal(stderr, '');
  }
});

test('the chart has the version of the package', async () => {
  const manifest = z
    .object({ version: z.string() })
    .parse(JSON.parse(await readFile(join(chart, '../../package.json'), 'utf8')));
  const text = await readFile(join(chart, 'Chart.yaml'), 'utf8');
  assert.ok(text.includes(`\nversion: ${manifest.version}\nappVersion: ${manifest.version}\n`));
});

async function makeDirectory(t: { after(end: () => Promise<void>): void }): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-chart-'));
  t.after(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }));
  return directory;
}

let count = 0;
async function writeValues(directory: string, values: object): Promise<string> {
  count += 1;
  const file = join(directory, `values-${count}.json`);
  await writeFile(file, JSON.stringify(values));
  return file;
}

async function template(directory: string, values: object): Promise<string> {
  const file = await writeValues(directory, values);
  const args = ['template', 'release', chart, '--values', file, '--include-crds', '--kube-version', '1.34.0'];
  return (await run(join(programs, 'helm'), args, { maxBuffer: 8 * 1024 * 1024 })).stdout;
}
