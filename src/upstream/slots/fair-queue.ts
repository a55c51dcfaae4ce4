/** Shares an upstream fairly by project, then key, weighted by work (start-time fair queueing): the one furthest behind is next. */

import type { WaitingCall } from '../../core/dispatch.ts';

/** Limit of idle flows that are kept, so that a pause brings a client no advantage. */
const mostIdleFlows = 1_000;

/** The share of a call that bulk has earned because interactive calls went first: at most one. */
export class BulkCredit {
  #value = 0;

  /** Adds to the share, when an interactive call goes while bulk waits. */
  add(share: number): void {
    this.#value = Math.min(1, this.#value + share);
  }

  get isOwed(): boolean {
    return this.#value >= 1;
  }

  /** Resets the share, when a bulk call goes or no interactive call waits. */
  clear(): void {
    this.#value = 0;
  }
}

/** The calls of one key, in order of arrival. */
class KeyFlow<E extends WaitingCall> {
  readonly entries = new Set<E>();
  /** The virtual start time of the next call. */
  startsAt = 0;

  get isEmpty(): boolean {
    return this.entries.size === 0;
  }
}

/** A set of flows that compete for the same slots. */
class Ring<F extends { startsAt: number; readonly isEmpty: boolean }> {
  readonly flows = new Map<string, F>();
  /** The virtual time: the start of the last served flow. */
  #now = 0;

  /** The flow of a name; a flow that returns does not get the time in which it was idle. */
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

  /** The flow that is furthest behind; of several, the earliest. */
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

  /** Drops idle flows that are not behind, and so have no claim. */
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

  remove(entry: E): boolean {
    const project = this.#projects.flows.get(entry.project);
    const key = project?.keys.flows.get(entry.key);
    if (project === undefined || key?.entries.has(entry) !== true) return false;
    this.#drop(entry, project, key);
    return true;
  }

  /** The newest call of the key with the most calls, if that has at least two more than the key of `entry`. */
  toPushOut(entry: WaitingCall): E | undefined {
    return [...(this.#longestBeside(entry) ?? [])].at(-1);
  }

  mayPushOut(entry: WaitingCall): boolean {
    return this.#longestBeside(entry) !== undefined;
  }

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
    // Once the queue is empty, no flow is behind another.
    if (this.size === 0) this.#projects = new Ring();
  }
}
