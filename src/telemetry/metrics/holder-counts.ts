/** What is counted of one key, or one project, that the operator has named for it. */

import type { Exchange } from '../../core/exchange.ts';
import type { Counter, Registry } from './registry.ts';

type HolderKind = 'key' | 'project';

export class HolderCounts {
  readonly #ok: Counter;
  readonly #failed: Counter;
  readonly #input: Counter;
  readonly #output: Counter;
  readonly #dollars: Counter;

  constructor(registry: Registry, holder: HolderKind, id: string) {
    this.#ok = registry.counter('postern_holder_requests_total', holder, id, 'ok');
    this.#failed = registry.counter('postern_holder_requests_total', holder, id, 'failed');
    this.#input = registry.counter('postern_holder_tokens_total', holder, id, 'input');
    this.#output = registry.counter('postern_holder_tokens_total', holder, id, 'output');
    this.#dollars = registry.counter('postern_holder_cost_dollars_total', holder, id);
  }

  count({ bill, status, errorCode }: Exchange): void {
    const isOk = errorCode === undefined && status < 400;
    (isOk ? this.#ok : this.#failed).add(1);
    if (bill === null) return;
    this.#input.add(bill.inputTokens);
    this.#output.add(bill.outputTokens);
    this.#dollars.add((bill.costNanos ?? 0) / 1e9);
  }
}

/** Those that are named, and no others: what is counted of them goes on over reloads. */
export class NamedHolders {
  readonly #registry: Registry;
  readonly #kind: HolderKind;
  readonly #known = new Map<string, HolderCounts>();
  #named: ReadonlySet<string> = new Set();

  constructor(registry: Registry, kind: HolderKind) {
    this.#registry = registry;
    this.#kind = kind;
  }

  adopt(ids: ReadonlySet<string>): void {
    this.#named = ids;
    for (const id of ids) {
      if (!this.#known.has(id)) this.#known.set(id, new HolderCounts(this.#registry, this.#kind, id));
    }
  }

  count(id: string | undefined, exchange: Exchange): void {
    if (id !== undefined && this.#named.has(id)) this.#known.get(id)?.count(exchange);
  }
}
