/** Joins small requests of several clients, after a short wait, into one upstream call (coalescing). */

import { performance } from 'node:perf_hooks';
import type { CoalesceSettings } from '../../core/snapshot.ts';
import { callJointly, type Member } from './joint-call.ts';

/** Requests that can be joined: they differ only in their items and clients. */
interface Group {
  waiting: Member[];
  items: number;
  timer: NodeJS.Timeout | undefined;
  /** The next wait, which is halved each time that no other request came. */
  waitMs: number;
  lastAtMs: number;
}

const shortestMs = 0.2;
const mostGroups = 1_000;

export class Coalescer {
  readonly #groups = new Map<string, Group>();

  /** Adds a request to its group; resolves after the joint call. The caller then requests the items without a result itself. */
  join(name: string, member: Member, { windowMs, maxItems }: CoalesceSettings): Promise<void> {
    const group = this.#groupOf(name, windowMs);
    const nowMs = performance.now();
    const waitMs = nowMs - group.lastAtMs <= windowMs ? windowMs : group.waitMs;
    group.lastAtMs = nowMs;
    group.waiting.push(member);
    group.items += member.entries.length;
    if (group.items >= maxItems) this.#send(group, windowMs, maxItems);
    else group.timer ??= setTimeout(() => this.#send(group, windowMs, maxItems), waitMs < shortestMs ? 0 : waitMs);
    return member.over;
  }

  #groupOf(name: string, windowMs: number): Group {
    const known = this.#groups.get(name);
    if (known !== undefined) return known;
    if (this.#groups.size >= mostGroups) this.#forgetIdle();
    const group: Group = {
      waiting: [],
      items: 0,
      timer: undefined,
      waitMs: windowMs,
      lastAtMs: Number.NEGATIVE_INFINITY,
    };
    this.#groups.set(name, group);
    return group;
  }

  #forgetIdle(): void {
    for (const [name, { waiting }] of this.#groups) if (waiting.length === 0) this.#groups.delete(name);
  }

  #send(group: Group, windowMs: number, maxItems: number): void {
    clearTimeout(group.timer);
    group.waitMs = group.waiting.length > 1 ? windowMs : group.waitMs / 2;
    const members = roundRobinByKey(group.waiting.filter(({ hasLeft }) => !hasLeft));
    group.waiting = [];
    group.items = 0;
    group.timer = undefined;
    let joint: Member[] = [];
    let items = 0;
    for (const member of members) {
      if (joint.length > 0 && items + member.entries.length > maxItems) {
        void callJointly(joint);
        joint = [];
        items = 0;
      }
      joint.push(member);
      items += member.entries.length;
    }
    if (joint.length > 0) void callJointly(joint);
  }
}

/** Orders members by taking one of each key in turn, so that a key with many requests does not delay keys with few. */
function roundRobinByKey(members: readonly Member[]): Member[] {
  const byKey = [...Map.groupBy(members, ({ key }) => key).values()];
  const ordered: Member[] = [];
  for (let turn = 0; ordered.length < members.length; turn += 1) {
    for (const own of byKey) {
      const member = own[turn];
      if (member !== undefined) ordered.push(member);
    }
  }
  return ordered;
}
