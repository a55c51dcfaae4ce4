/** Makes one upstream call for the items of several waiting requests; each gets its results and its share of the usage. */

import { GatewayError } from '../../core/errors.ts';
import type { Exchange } from '../../core/exchange.ts';
import type { ReadPart } from '../../core/lists.ts';
import type { ReadAnswer } from '../codecs/codec.ts';
import { type Found, foundIn } from '../found.ts';
import { createPartAsker, type Inquiry, type Wanted } from '../part-asker.ts';
import { weightOf } from '../parts.ts';

interface Owned extends Wanted {
  readonly member: Member;
  readonly entry: ListEntry;
}

/** Calls for two or more members; a single one is left to ask alone. Never rejects: a member without results asks alone as well. */
export async function callJointly(members: readonly Member[]): Promise<void> {
  const [first, second] = members;
  try {
    if (first !== undefined && second !== undefined) await callFor(members, first.inquiry);
  } finally {
    for (const member of members) member.end();
  }
}

async function callFor(members: readonly Member[], inquiry: Inquiry): Promise<void> {
  const { asked } = inquiry;
  const joint: Inquiry = {
    ...inquiry,
    asked: { ...asked, ask: (part) => asked.askForSeveral(part) },
    items: { ...inquiry.items, isList: true },
  };
  const asker = createPartAsker<Owned>(joint, {
    take: (owned, read, part) => shareOut(owned, read, part, inquiry),
    owe: (owned, part) => {
      for (const [member, { share }] of sharesIn(owned, part, inquiry)) member.takers.owe(share);
    },
  });
  // The call is cancelled once no member is left.
  const giveUp = (): void => {
    if (members.every(({ hasLeft }) => hasLeft)) asker.endWith({ error: new GatewayError('client_closed') });
  };
  for (const member of members) member.onLeft = giveUp;
  const owned = members.flatMap((member) =>
    member.entries.map((entry): Owned => ({ bytes: entry.bytes, member, entry })),
  );
  try {
    await asker.askAll(owned, asked.candidates);
  } catch (error) {
    asker.endWith({ error });
  }
  const { end } = asker;
  if (end !== undefined && 'answer' in end) end.answer.cancel();
}

function shareOut(owned: readonly Owned[], read: ReadAnswer, part: ReadPart, inquiry: Inquiry): void {
  const weights = owned.map((one) => weightIn(one, inquiry));
  const found = foundIn(read, part, weights);
  for (const [member, { indices, share }] of sharesIn(owned, part.exchange, inquiry)) {
    member.takers.take(
      indices.flatMap((index) => owned[index]?.entry ?? []),
      indices.flatMap((index) => found[index] ?? []),
      { ...part, exchange: share, isJoint: indices.length < owned.length },
    );
  }
}

const weightIn = ({ bytes }: Owned, { besideBytes }: Inquiry): number => weightOf(bytes) + besideBytes;

/** For each member: the positions of its items in the call, and its share of the call's cost. */
function* sharesIn(
  owned: readonly Owned[],
  part: Exchange,
  inquiry: Inquiry,
): Generator<[Member, { readonly indices: readonly number[]; readonly share: Exchange }]> {
  const byMember = [...Map.groupBy(owned.keys(), (index) => owned[index]?.member)];
  const shares = inquiry.asked.share(
    part,
    byMember.map(([, indices]) => ({
      items: indices.length,
      weight: indices.reduce((sum, index) => sum + (owned[index] ? weightIn(owned[index], inquiry) : 0), 0),
    })),
  );
  for (const [index, [member, indices]] of byMember.entries()) {
    const share = shares[index];
    if (member !== undefined && share !== undefined) yield [member, { indices, share }];
  }
}

interface Takers {
  take(entries: readonly ListEntry[], found: readonly Found[], part: ReadPart): void;
  /** Takes the member's share of a call whose answer was not awaited. */
  owe(part: Exchange): void;
}

export type Member = ReturnType<typeof createMember>;

/** Makes a request a member of a joint call. `key`: its key's ID. `takers` get results and cost even after the member has left. */
export function createMember(key: string, inquiry: Inquiry, entries: readonly ListEntry[], takers: Takers) {
  /** Resolves when no further results will come. */
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const member = {
    key,
    inquiry,
    entries,
    takers,
    over,
    end,
    hasLeft: false,
    /** Called when the member leaves; replaced once the call has begun. */
    onLeft: end,
    /** Notes that the member's client has left, or no longer waits. */
    leave(): void {
      if (member.hasLeft) return;
      member.hasLeft = true;
      member.onLeft();
    },
  };
  return member;
}

export interface ListEntry extends Wanted {
  readonly key: string;
  found: Found | undefined;
  /** Whether this request requested the item from an upstream; repeated items, and those that other requests fetched, cost nothing. */
  isAskedFor: boolean;
}
