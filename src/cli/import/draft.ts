/** Builds the configuration that results from an import: equal upstreams are merged, and no credential is written out. */

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
  /** The credentials, as `Draft.credential` returns them. */
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
  /** The target's name in the other gateway, for `--diff`. */
  readonly from?: string | undefined;
}

interface NewRoute {
  readonly path: string;
  readonly to: string;
  readonly model: string;
}

/** Chat operations that clients of the other gateway can use. */
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
  /** Operations that the model serves in the other gateway; undefined where that is unknown. */
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

/** The shortest default of `timeouts.total` that any operation has. */
const shortestStandardMs = 300_000;
/** The highest allowed value of `retry.attempts`. */
const mostAttempts = 10;

export class Draft {
  readonly #families: readonly Family[];
  readonly #upstreams = new Map<string, UpstreamBody>();
  readonly #models = new Map<string, Model>();
  readonly #keys: Key[] = [];
  readonly #projects: Project[] = [];
  /** Names of variables, by the literal secret that each stands for, or by `$` and the name itself. */
  readonly #names = new Map<string, string>();
  readonly #routes: NewRoute[] = [];
  readonly #kept = new Set<string>();
  redis: string | undefined;
  /** Timeouts of upstreams that have none of their own. */
  standardTimeouts: Pick<NewUpstream, 'timeoutMs' | 'idleMs'> = {};

  constructor(families: readonly Family[]) {
    this.#families = families;
  }

  /** Every variable that the resulting file refers to. */
  get names(): readonly string[] {
    return [...new Set(this.#names.values())].toSorted();
  }

  get isEmpty(): boolean {
    return this.#upstreams.size + this.#models.size + this.#keys.length === 0;
  }

  /** A reference `${NAME}`: to the variable that `written` names (`os.environ/NAME`, `env.NAME`, `$NAME`), or to a new one for a secret. */
  credential(written: string | undefined, ownName: string): string {
    const variable = written === undefined ? undefined : nameIn(written);
    if (variable !== undefined) return this.variable(variable);
    const known = written === undefined ? undefined : this.#names.get(written);
    const name = known ?? this.#freeName(toName(ownName));
    this.#names.set(written ?? `$${name}`, name);
    return `\${${name}}`;
  }

  /** Reserves the name of a variable, so that no literal secret gets it. */
  keepName(name: string): void {
    this.#kept.add(name);
  }

  /** A reference to a variable with a well-known name, such as that of a provider's key. No literal secret gets that name. */
  variable(variable: string): string {
    this.#names.set(`$${variable}`, variable);
    return `\${${variable}}`;
  }

  /** A value that is not secret, or a reference to the variable that it names. */
  value(written: string | undefined): string | undefined {
    const variable = written === undefined ? undefined : nameIn(written);
    return variable === undefined ? written : this.variable(variable);
  }

  /** Adds an upstream, unless an equal one exists, and returns its ID. */
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

  /** Adds a target to a model. A model has each target once, at its first priority, with the weight given for that one. */
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

  /** Adds operations to a model, as far as a family of its targets offers them; others would be a fault. */
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

  /** Adds a key by the digest of its secret, so that the secret stays valid. */
  keyByDigest(id: string, digest: string, terms: Terms): void {
    this.#keys.push({ id: this.#freeKey(id), secret_sha256: digest, ...terms });
  }

  /** Adds a project and returns its ID. */
  project(id: string, terms: Omit<Project, 'id'>): string {
    const own = free(id, (name) => this.#projects.some((project) => project.id === name));
    this.#projects.push({ id: own, ...terms });
    return own;
  }

  /** Sets the operations of models by their names, and returns what the operator should know about them. */
  settle(): Note[] {
    return [...this.#models.values()].flatMap((model) => {
      if (model.targets.length === 0) return [];
      const texts = [this.#settleOne(model), this.#chatDoubt(model)].filter((text) => text !== undefined);
      return texts.map((text): Note => ({ line: undefined, path: `model ${model.id}`, text }));
    });
  }

  /** Sets one model's operations. Targets with different names may differ in vectors and scores, so these are then left out. */
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

  /** What to say of a model that served chat before: it does not any more, or no target's family surely serves it. */
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

  /** Table rows for `--diff`, one for each route of each model: its target in the other gateway, and in this one. */
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

/** Whether the operation's results are compared with those of other calls, so that targets must not differ. */
const isComparable = (one: Operation): boolean => ['vectors', 'scores'].includes(operationRows[one].yields);

/** The address without a version: two slashes tell Postern that an address of family openai has none on purpose. */
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
