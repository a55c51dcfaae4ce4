/** `postern init`: writes a starting configuration for the provider keys found in the environment. */

import { basename, join, relative } from 'node:path';
import { findConfiguration } from '../../config/read/find.ts';
import type { BuiltInModel, Family } from '../../core/family.ts';
import { type CommandContext, commandOf } from '../command.ts';
import { writeNew } from '../output.ts';

export const init = commandOf('init', '--config F --force', run);

async function run({ values, configPath, env, cwd, families, stdout, stderr }: CommandContext): Promise<0 | 1> {
  const named = configPath !== undefined || Boolean(env.POSTERN_CONFIG);
  const found = await findConfiguration({ configPath, env, cwd });
  const target = named && found.file !== undefined ? found.file : join(cwd, 'postern.yaml');
  const force = values.force === true;

  const isBeside = !named && found.file !== undefined && found.file !== target && !force;
  const refused = isBeside
    ? `${basename(found.file)} is there already; --force writes ${basename(target)}, which goes before it`
    : await writeNew(target, target, starterFile(families, env), force);
  if (refused !== undefined) {
    stderr(`postern: ${refused}`);
    return 1;
  }
  for (const line of initReport(families, env, keyFault(env.POSTERN_KEY))) stdout(line);
  stdout(`${relative(cwd, target)} is written; "postern check" shows the result.`);
  if (!named && found.file === undefined) {
    stdout('A gateway that runs here without a file loads it, if its environment has the same keys; else restart it.');
  }
  return 0;
}

interface Start {
  readonly family: Family;
  readonly apiKeyEnv: string | undefined;
  readonly models: readonly BuiltInModel[];
}

function starterFile(families: readonly Family[], env: CommandContext['env']): string {
  const starts = families.flatMap(({ starter, ...family }): Start[] =>
    starter !== undefined && env[starter.apiKeyEnv] ? [{ family, ...starter }] : [],
  );
  const models = starterModels(starts);
  const blocks = [
    '# The configuration of Postern. "postern check" validates it and shows the result; a running gateway',
    '# reloads it when it changes. Every key is described in docs/reference/configuration.md.',
    '',
    ...serverBlock,
    '',
    ...upstreamsBlock(starts),
    '',
    ...modelsBlock(models),
    '',
    ...defaultModelBlock(starts.length === 0 ? families.flatMap(({ builtIn = [] }) => builtIn) : models),
    ...keysBlock(env.POSTERN_KEY),
  ];
  return `${blocks.join('\n')}\n`;
}

const serverBlock = ['server:', '  host: 127.0.0.1   # 0.0.0.0 listens on every interface', '  port: 4000'];

function upstreamsBlock(starts: readonly Start[]): string[] {
  if (starts.length === 0) {
    return [
      '# Built in: needs no network and no key, and brings its own models. Add a provider beside it, such as',
      '#   - id: openai',
      '#     family: openai',
      `#     api_key: \${OPENAI_API_KEY}`,
      'upstreams:',
      '  - id: local',
      '    family: local',
    ];
  }
  return [
    '# The services that calls go to, each with the key that the environment holds for it.',
    'upstreams:',
    ...starts.flatMap(({ family, apiKeyEnv }) => [
      `  - id: ${family.id}`,
      `    family: ${family.id}`,
      ...(family.baseUrl === undefined ? [] : [`    # base_url: ${family.baseUrl}`]),
      `    api_key: \${${apiKeyEnv}}`,
    ]),
  ];
}

interface StarterModel extends BuiltInModel {
  /** The model's name for clients. */
  readonly id: string;
  readonly upstream: string;
  readonly model: string;
}

function starterModels(starts: readonly Start[]): StarterModel[] {
  const taken = new Set<string>();
  return starts.flatMap(({ family, models }) =>
    models.map(({ id: model, operations }) => {
      const id = taken.has(model) ? `${family.id}/${model}` : model;
      taken.add(id);
      return { id, operations, upstream: family.id, model };
    }),
  );
}

function modelsBlock(starters: readonly StarterModel[]): string[] {
  const models = starters.flatMap(({ id, operations, upstream, model }) => [
    `  - id: ${quote(id)}`,
    `    operations: [${operations.join(', ')}]`,
    '    targets:',
    `      - { upstream: ${upstream}, model: ${quote(model)} }`,
  ]);
  if (models.length === 0) return ['# Models that the upstream does not add itself:', '# models:', '#   - id: ...'];
  return [
    '# The models that clients can use. An ID with one * is a pattern; visible: false hides a model from lists.',
    'models:',
    ...models,
  ];
}

/** Lines that set a default model for moderations, where OpenAI's clients need not name one. */
function defaultModelBlock(models: readonly BuiltInModel[]): string[] {
  const moderator = models.find(({ operations }) => operations.includes('moderations'));
  if (moderator === undefined) return [];
  return [
    '# The model for requests without one: clients of OpenAI may omit it on moderations.',
    'default_model:',
    `  moderations: ${quote(moderator.id)}`,
    '',
  ];
}

/** The name, in quotes where YAML would read it as something else. */
function quote(name: string): string {
  return /^[A-Za-z][A-Za-z0-9._/-]*$/.test(name) && !/^(true|false|null)$/i.test(name) ? name : JSON.stringify(name);
}

const shortestSecret = 24;
const usableSecret = new RegExp(`^[\\x21-\\x7e]{${shortestSecret},}$`);

/** Why a text cannot be a client's key; undefined where it can. */
function keyFault(posternKey: string | undefined): string | undefined {
  if (posternKey === undefined || posternKey === '' || usableSecret.test(posternKey)) return undefined;
  return posternKey.length < shortestSecret
    ? `it has ${posternKey.length} characters, and a key needs at least ${shortestSecret}`
    : 'a key has visible ASCII characters only';
}

function keysBlock(posternKey: string | undefined): string[] {
  if (posternKey !== undefined && usableSecret.test(posternKey)) {
    return [
      '# The keys of clients; "postern keys create" makes more.',
      'keys:',
      '  - id: default',
      `    secret: \${POSTERN_KEY}`,
    ];
  }
  return [
    '# Keys of clients can be declared here too. Without any, the first start creates one and prints it',
    '# once; "postern keys create" makes more.',
    '# keys:',
    '#   - id: dev',
    `#     secret: \${POSTERN_DEV_KEY}   # at least ${shortestSecret} characters`,
  ];
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The report of `postern init`: which provider keys were found, what became of each, and what was left out. */
function initReport(families: readonly Family[], env: Environment, keyFault: string | undefined): string[] {
  const found: string[] = [];
  const leftOut: string[] = [];
  const missing: string[] = [];
  for (const { id, starter, environment = [] } of families) {
    for (const name of environment.filter((one) => env[one])) {
      leftOut.push(`Left out: ${name}; family ${id} needs more than a key, see docs/reference/families.md.`);
    }
    if (starter === undefined) continue;
    if (env[starter.apiKeyEnv]) found.push(foundText(id, starter));
    else missing.push(starter.apiKeyEnv);
  }
  if (keyFault !== undefined) leftOut.push(`Left out: POSTERN_KEY; ${keyFault}.`);
  if (found.length === 0) found.push('Found no key of a provider, so the built-in upstream is in the file.');
  return [...found, ...leftOut, ...(missing.length === 0 ? [] : [`Not in the environment: ${missing.join(', ')}.`])];
}

function foundText(family: string, { apiKeyEnv, models }: NonNullable<Family['starter']>): string {
  const names = models.map(({ id }) => id).join(', ');
  const what = names === '' ? 'no models, as its list changes: name those that you use' : `with ${names}`;
  return `Found ${apiKeyEnv}: upstream ${family}, ${what}.`;
}
