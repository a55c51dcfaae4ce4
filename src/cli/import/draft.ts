/** The resulting configuration of an import: equal upstreams are merged, and no credential is written out. */

import { stringify } from 'yaml';
import { type Family, type Options, offersOf, standardOptions } from '../../core/family.ts';
import { operations as allOperations, type Operation, operationRows } from '../../core/operations/index.ts';
import { getOrMake } from '../../lib/get-or-make.ts';
import { fromMilliseconds } from '../../lib/quantities.ts';
import { type Note, type Terms, toId } from './part.ts';
import type { Provider } from './providers.ts';

interface NewUpstream {
  readonly provider: Provider;
  readonly baseUrl?: string | undefined;
  /** As returned by `Draft.credential`. */
  readonly credentials: readonly { readonly apiKey: string; readonly weight?: number | undefined }[];
  readonly options?: Options;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly timeoutMs?: number | undefined;
  readonly idleMs?: number | undefined;
  readonly concurrency?: number | undefined;
  readonly limits?: Readonly<Record<string, number | undefined>>;
}

export interface NewTarget {
  readonly upstream: string;
  readonly model?: string | undefined;
  readonly weight?: number | undefined;
  readonly priority?: number | undefined;
  readonly defaults?: Readonly<Record<string, unknown>> | undefined;
  readonly price?: Readonly<Record<string, number>> | undefined;
  /** Its name there, for `--diff`. */
  readonly from?: string | undefined;
}

interface NewRoute {
  readonly path: string;
  readonly to: string;
  readonly model: string;
}

/** Chat operations that clients could use there. */
const conversations: readonly Operation[] = ['chat', 'completions', 'responses', 'messages'];

const conversing = [operationRows.chat.namedLike, operationRows.messages.namedLike];

interface UpstreamBody {
  readonly family: string;
  readonly options: Options | undefined;
}

interface Model {
  readonly id: string;
  aliases?: string[];
  operations?: readonly Operation[];
  balance?: string;
  retry?: { attempts: number; same_target?: number };
  /** Operations there; undefined where unknown. */
  did?: readonly Operation[];
  readonly targets: NewTarget[];
}

interface Key extends Terms {
  readonly id: string;
  readonly secret?: string;
  readonly secret_sha256?: string;
}

interface Project extends Pick<Terms, 'limits' | 'budgets'> {
  readonly id: string;
  readonly name?: string | undefined;
}

/** The default `timeouts.total` of the operations with the shortest one. */
const shortestStandardMs = 300_000;
/** The maximum of `retry.attempts`. */
const mostAttempts = 10;

export class Draft {
  readonly #families: readonly Family[];
  readonly #upstreams = new Map<string, UpstreamBody>();
  readonly #models = new Map<string, Model>();
  readonly #keys: Key[] = [];
  readonly #projects: Project[] = [];
  /** By the secret itself, or by the name of the variable. */
  readonly #names = new Map<string, string>();
  readonly #routes: NewRoute[] = [];
  readonly #kept = new Set<string>();
  redis: string | undefined;
  /** For upstreams without timeouts of their own. */
  standardTimeouts: Pick<NewUpstream, 'timeoutMs' | 'idleMs'> = {};

  constructor(families: readonly Family[]) {
    this.#families = families;
  }

  /** Every variable that the file refers to. */
  get names(): readonly string[] {
    return [...new Set(this.#names.values())].toSorted();
  }

  get isEmpty(): boolean {
    return this.#upstreams.size + this.#models.size + this.#keys.length === 0;
  }

  /** `${NAME}`: the variable referred to there (`os.environ/NAME`, `env.NAME`, `$NAME`), or a name of our own for a literal secret. */
  credential(written: string | undefined, ownName: string): string {
    const variable = written === undefined ? undefined : nameIn(written);
    if (variable !== undefined) return this.variable(variable);
    const known = written === undefined ? undefined : this.#names.get(written);
    const name = known ?? this.#freeName(toName(ownName));
    this.#names.set(written ?? `$${name}`, name);
    return `\${${name}}`;
  }

  /** Reserves a name, so that no literal secret gets it. */
  keepName(name: string): void {
    this.#kept.add(name);
  }

  /** One that is known everywhere, as that of a provider's key. No literal secret gets its name. */
  variable(variable: string): string {
    this.#names.set(`$${variable}`, variable);
    return `\${${variable}}`;
  }

  /** A value that is not secret, and may refer to a variable. */
  value(written: string | undefined): string | undefined {
    const variable = written === undefined ? undefined : nameIn(written);
    return variable === undefined ? written : this.variable(variable);
  }

  /** Returns its ID. */
  upstream(wanted: NewUpstream): string {
    const { provider, credentials, options = {}, headers, concurrency } = wanted;
    const timeoutMs = wanted.timeoutMs ?? this.standardTimeouts.timeoutMs;
    const idleMs = wanted.idleMs ?? this.standardTimeouts.idleMs;
    // A timeout after the end of the whole call would change nothing.
    const endsFirst = idleMs !== undefined && idleMs < (timeoutMs ?? shortestStandardMs);
    const timeouts = {
      idle: endsFirst ? fromMilliseconds(Math.max(1, Math.round(idleMs))) : undefined,
      total: timeoutMs === undefined ? undefined : fromMilliseconds(Math.max(1, Math.round(timeoutMs))),
    };
    const baseUrl = withoutVersion(provider, wanted.baseUrl) ?? provider.baseUrl;
    const [only] = credentials;
    const several = credentials.length > 1;
    const set = { concurrency, ...wanted.limits };
    // Undefined fields are left out of the file.
    const body = {
      family: provider.family,
      base_url: baseUrl,
      api_key: several ? undefined : only?.apiKey,
      credentials: several ? credentials.map(({ apiKey, weight }) => ({ api_key: apiKey, weight })) : undefined,
      options: Object.keys(options).length > 0 ? options : undefined,
      headers,
      timeouts: Object.values(timeouts).some((one) => one !== undefined) ? timeouts : undefined,
      limits: Object.values(set).some((limit) => limit !== undefined) ? set : undefined,
    };
    for (const [id, other] of this.#upstreams) {
      if (JSON.stringify(other) === JSON.stringify(body)) return id;
    }
    const id = free(provider.name, (name) => this.#upstreams.has(name));
    this.#upstreams.set(id, body);
    return id;
  }

  /** A model has each target once: at the first of its priorities, and with the weights given there. */
  target(modelId: string, target: NewTarget): void {
    const { targets } = this.#model(modelId);
    const added = { ...target, model: target.model === modelId ? undefined : target.model };
    const index = targets.findIndex(({ upstream, model }) => upstream === added.upstream && model === added.model);
    const known = targets[index];
    const later = (added.priority ?? 0) - (known?.priority ?? 0);
    if (known === undefined) targets.push(added);
    else if (later < 0) targets[index] = added;
    else if (later === 0) targets[index] = { ...known, weight: (known.weight ?? 1) + (added.weight ?? 1) };
  }

  hasModel(id: string): boolean {
    return this.#models.has(id);
  }

  targetsOf(id: string): readonly NewTarget[] {
    return this.#models.get(id)?.targets ?? [];
  }

  /** Only those that a family of its targets offers: others would be a fault. */
  operations(modelId: string, wanted: readonly Operation[]): void {
    const model = this.#model(modelId);
    const offered = new Set(model.targets.flatMap(({ upstream }) => this.#offeredBy(upstream)));
    const all = [...new Set([...(model.operations ?? []), ...wanted])];
    const fitting = all.filter((one) => one === 'own' || offered.has(one));
    model.did = [...new Set([...(model.did ?? []), ...(wanted.includes('chat') ? conversations : wanted)])];
    if (fitting.length > 0) model.operations = fitting;
  }

  route(route: NewRoute): void {
    this.#routes.push(route);
  }

  alias(modelId: string, alias: string): void {
    const model = this.#model(modelId);
    model.aliases = [...(model.aliases ?? []), alias];
  }

  balanceAll(balance: string): void {
    for (const model of this.#models.values()) {
      const priorities = new Set(model.targets.map(({ priority = 0 }) => priority));
      if (model.targets.length > priorities.size) model.balance = balance;
    }
  }

  attemptAll(attempts: number): void {
    const most = Math.min(attempts, mostAttempts);
    for (const model of this.#models.values()) {
      const alone = model.targets.length === 1 && most > 2;
      model.retry = { attempts: most, ...(alone && { same_target: most - 1 }) };
    }
  }

  key(id: string, secret: string | undefined, terms: Terms = {}): void {
    const own = this.#freeKey(id);
    this.#keys.push({ id: own, secret: this.credential(secret, `${own}_key`), ...terms });
  }

  /** The key's secret stays valid. */
  keyByDigest(id: string, digest: string, terms: Terms): void {
    this.#keys.push({ id: this.#freeKey(id), secret_sha256: digest, ...terms });
  }

  /** Returns its ID. */
  project(id: string, terms: Omit<Project, 'id'>): string {
    const own = free(id, (name) => this.#projects.some((project) => project.id === name));
    this.#projects.push({ id: own, ...terms });
    return own;
  }

  /** Sets operations by model names, and returns what the operator should know of models. */
  settle(): Note[] {
    return [...this.#models.values()].flatMap((model) => {
      if (model.targets.length === 0) return [];
      const texts = [this.#settleOne(model), this.#chatDoubt(model)].filter((text) => text !== undefined);
      return texts.map((text): Note => ({ line: undefined, path: `model ${model.id}`, text }));
    });
  }

  /** Targets with different names may differ in vectors and scores: such a model serves the rest. */
  #settleOne(model: Model): string | undefined {
    if (model.operations !== undefined) return undefined;
    const names = new Set(model.targets.map((target) => target.model ?? model.id));
    const offered = new Set(model.targets.flatMap(({ upstream }) => this.#offeredBy(upstream)));
    const some = allOperations.filter((one) => offered.has(one));
    const named = some.filter((one) => {
      const { namedLike, yields } = operationRows[one];
      return yields !== 'text' && namedLike !== undefined && [...names].every((name) => namedLike.test(name));
    });
    const talks = [...names].every((name) => conversing.some((pattern) => pattern?.test(name)));
    model.did = named.length > 0 ? named : conversations;
    const all = talks ? some.filter((one) => conversations.includes(one) || one === 'count_tokens') : some;
    const fitting = names.size > 1 ? all.filter((one) => !isComparable(one)) : named.length > 0 ? named : all;
    const ofAll = fitting.filter((one) =>
      model.targets.every(({ upstream }) => this.#offeredBy(upstream).includes(one)),
    );
    // Operations that only some targets offer must not exclude the others.
    model.operations = ofAll.length > 0 ? ofAll : fitting;
    if (names.size === 1) return undefined;
    return 'its targets have different names for it: no embeddings and no rerank, unless its operations say so';
  }

  /** Of a model with chat there: it is not served here, or no target's family is known to serve it for the model. */
  #chatDoubt({ id, did, operations, targets }: Model): string | undefined {
    if (did?.includes('chat') !== true) return undefined;
    if (operations?.includes('chat') !== true) {
      return 'loses /v1/chat/completions: the families of its targets do not offer it; --diff lists what is served';
    }
    const isInDoubt = ({ upstream, model = id }: NewTarget): boolean =>
      !this.#offeredBy(upstream).includes('chat') || this.#familyOf(upstream)?.chatLacks?.test(model) === true;
    if (!targets.every(isInDoubt)) return undefined;
    return 'may lose /v1/chat/completions: that path of its upstream is documented for other models alone';
  }

  /** A row for each route of each model: its target there, and here. */
  diff(): string[][] {
    return [...this.#models.values()].flatMap(({ id, did = [], operations = [], targets }) => {
      const routes = allOperations.filter((one) => one !== 'own' && (did.includes(one) || operations.includes(one)));
      const there = [...new Set(targets.map(({ from, upstream, model = id }) => from ?? `${upstream}/${model}`))].join(
        ', ',
      );
      return routes.map((one) => {
        const here = targets.filter(({ upstream }) => this.#offeredBy(upstream).includes(one));
        const serves = operations.includes(one) ? [...new Set(here.map(({ upstream }) => upstream))].join(', ') : '';
        return [id, operationRows[one].path, did.includes(one) ? there : '-', serves || 'not served'];
      });
    });
  }

  toYaml(head: string): string {
    const upstreams = [...this.#upstreams].map(([id, body]) => ({ id, ...body }));
    const models = [...this.#models.values()]
      .filter(({ targets }) => targets.length > 0)
      .map(({ did: _did, targets, ...model }) => ({
        ...model,
        targets: targets.map(({ from: _from, ...target }) => target),
      }));
    const routes = this.#routes.map(({ model, ...route }) => ({ ...route, model: { id: model } }));
    const projects = this.#projects.length > 0 ? this.#projects : undefined;
    const keys = this.#keys.length > 0 ? this.#keys : undefined;
    const body = {
      redis: this.redis,
      upstreams,
      models,
      routes: routes.length > 0 ? routes : undefined,
      projects,
      keys,
    };
    return `${head}${stringify(body, { lineWidth: 140, aliasDuplicateObjects: false })}`;
  }

  #model(id: string): Model {
    return getOrMake(this.#models, id, (): Model => ({ id, targets: [] }));
  }

  #familyOf(upstream: string): Family | undefined {
    const body = this.#upstreams.get(upstream);
    return this.#families.find(({ id }) => id === body?.family);
  }

  #offeredBy(upstream: string): string[] {
    const body = this.#upstreams.get(upstream);
    const found = this.#familyOf(upstream);
    if (found === undefined) return [];
    const set = { ...standardOptions(found), ...body?.options };
    return Object.values(offersOf(found, set)).flatMap((byOperation) => Object.keys(byOperation));
  }

  #freeKey(id: string): string {
    return free(toId(id), (name) => this.#keys.some((key) => key.id === name));
  }

  #freeName(name: string): string {
    const taken = new Set([...this.#names.values(), ...this.#kept]);
    return free(name, (one) => taken.has(one), '_');
  }
}

/** Its results are compared with those of other calls of the model. */
const isComparable = (one: Operation): boolean => ['vectors', 'scores'].includes(operationRows[one].yields);

/** The same address: two slashes show that an address of family openai deliberately has no version. */
function withoutVersion({ family }: Provider, baseUrl: string | undefined): string | undefined {
  if (family !== 'openai' || baseUrl === undefined || /\/v\d|^\$/i.test(baseUrl)) return baseUrl;
  return `${baseUrl.replace(/\/*$/, '')}//`;
}

function nameIn(written: string): string | undefined {
  return /^(?:os\.environ\/|env\.|\$)\{?([A-Za-z_]\w*)\}?$/.exec(written)?.[1];
}

function toName(text: string): string {
  const name = text
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '');
  return /^\d/.test(name) || name === '' ? `KEY_${name}` : name;
}

function free(name: string, isTaken: (name: string) => boolean, between = '-'): string {
  let number = 2;
  let one = name;
  while (isTaken(one)) {
    one = `${name}${between}${number}`;
    number += 1;
  }
  return one;
}
