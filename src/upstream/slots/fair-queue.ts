/** A queue that shares an upstream by project, then key, weighted by work: start-time fair queueing, the furthest behind is next. */

import type { WaitingCall } from '../../core/dispatch.ts';

/** Flows that were served lately and wait for nothing are kept up to this many, so that none gains by pausing. */
const mostIdleFlows = 1_000;

/** How much of a call bulk is owed by interactive calls that went first: never more than one. */
export class BulkCredit {
  #value = 0;

  /** An interactive call goes while bulk waits. */
  add(share: number): void {
    this.#value = Math.min(1, this.#value + share);
  }

  get isOwed(): boolean {
    return this.#value >= 1;
  }

  /** A bulk call went, or none waits on the other side. */
  clear(): void {
    this.#value = 0;
  }
}

/** The calls of one key, in the order in which they came. */
class KeyFlow<E extends WaitingCall> {
  readonly entries = new Set<E>();
  /** The virtual time from which its next call counts. */
  startsAt = 0;

  get isEmpty(): boolean {
    return this.entries.size === 0;
  }
}

/** Flows in competition with each other. */
class Ring<F extends { startsAt: number; readonly isEmpty: boolean }> {
  readonly flows = new Map<string, F>();
  /** The virtual time: the start of the flow that was served last. */
  #now = 0;

  /** The flow of that name; one that comes back does not claim the time in which it asked for nothing. */
  flowOf(name: string, create: () => F): F {
    let flow = this.flows.get(name);
    if (flow === undefined) {
      if (this.flows.size > mostIdleFlows) this.#forgetIdle();
      flow = create();
      this.flows.set(name, flow);
    }
    if (flow.isEmpty) flow.startsAt = Math.max(flow.startsAt, this.#now);
    return flow;
  }

  /** The flow that is furthest behind; the first of them in the order in which they came. */
  first(): F | undefined {
    let first: F | undefined;
    for (const flow of this.flows.values()) {
      if (!flow.isEmpty && (first === undefined || flow.startsAt < first.startsAt)) first = flow;
    }
    return first;
  }

  charge(flow: F, work: number): void {
    this.#now = flow.startsAt;
    flow.startsAt += work;
  }

  /** Flows that have no claim left to lose. */
  #forgetIdle(): void {
    for (const [name, flow] of this.flows) {
      if (flow.isEmpty && flow.startsAt <= this.#now) this.flows.delete(name);
    }
  }
}

class ProjectFlow<E extends WaitingCall> {
  readonly keys = new Ring<KeyFlow<E>>();
  startsAt = 0;
  size = 0;

  get isEmpty(): boolean {
    return this.size === 0;
  }
}

export class FairQueue<E extends WaitingCall> {
  size = 0;
  #projects = new Ring<ProjectFlow<E>>();

  add(entry: E): void {
    const project = this.#projects.flowOf(entry.project, () => new ProjectFlow());
    const key = project.keys.flowOf(entry.key, () => new KeyFlow());
    key.entries.add(entry);
    project.size += 1;
    this.size += 1;
  }

  /** Takes the call that goes next. */
  shift(): E | undefined {
    const project = this.#projects.first();
    const key = project?.keys.first();
    if (project === undefined || key === undefined) return undefined;
    const [entry] = key.entries;
    if (entry === undefined) return undefined;
    project.keys.charge(key, entry.work);
    this.#projects.charge(project, entry.work);
    this.#drop(entry, project, key);
    return entry;
  }

  /** False where it does not wait here. */
  remove(entry: E): boolean {
    const project = this.#projects.flows.get(entry.project);
    const key = project?.keys.flows.get(entry.key);
    if (project === undefined || key?.entries.has(entry) !== true) return false;
    this.#drop(entry, project, key);
    return true;
  }

  /** The newest call of the key with the most calls, where that has at least two more than the key of `entry`. */
  toPushOut(entry: WaitingCall): E | undefined {
    return [...(this.#longestBeside(entry) ?? [])].at(-1);
  }

  mayPushOut(entry: WaitingCall): boolean {
    return this.#longestBeside(entry) !== undefined;
  }

  /** The keys with the most calls, and how many each has. */
  longest(count: number): { readonly key: string; readonly waiting: number }[] {
    if (this.size === 0) return [];
    const all = [...this.#projects.flows.values()].flatMap(({ keys }) =>
      [...keys.flows].map(([key, { entries }]) => ({ key, waiting: entries.size })),
    );
    return all
      .filter(({ waiting }) => waiting > 0)
      .toSorted((a, b) => b.waiting - a.waiting)
      .slice(0, count);
  }

  /** So many, of each key its last ones. */
  newest(count: number): E[] {
    if (count <= 0) return [];
    const all: E[] = [];
    for (const { keys } of this.#projects.flows.values()) {
      for (const { entries } of keys.flows.values()) all.push(...entries);
    }
    return all.slice(-count);
  }

  #longestBeside({ project, key }: WaitingCall): Set<E> | undefined {
    const own = this.#projects.flows.get(project)?.keys.flows.get(key)?.entries.size ?? 0;
    let longest: Set<E> | undefined;
    for (const { keys } of this.#projects.flows.values()) {
      for (const { entries } of keys.flows.values()) {
        if (entries.size > own + 1 && (longest === undefined || entries.size > longest.size)) longest = entries;
      }
    }
    return longest;
  }

  #drop(entry: E, project: ProjectFlow<E>, key: KeyFlow<E>): void {
    key.entries.delete(entry);
    project.size -= 1;
    this.size -= 1;
    // Nobody is behind anybody any more.
    if (this.size === 0) this.#projects = new Ring();
  }
}
