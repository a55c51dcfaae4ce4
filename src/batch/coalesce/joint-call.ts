/** One call for the items of several requests: each gets its own results, and its share of what was counted. */

import { GatewayError } from '../../core/errors.ts';
import type { ReadPart } from '../../core/lists.ts';
import type { ReadAnswer } from '../codecs/codec.ts';
import { foundIn } from '../found.ts';
import { type Inquiry, PartAsker, type Wanted } from '../part-asker.ts';
import { weightOf } from '../parts.ts';
import type { Slot } from '../slot.ts';
import type { Member } from './member.ts';

interface Owned extends Wanted {
  readonly member: Member;
  readonly slot: Slot;
}

/** Never rejects: whoever has no results afterwards asks alone, and reads its own error. One alone is not asked for here. */
export async function callJointly(members: readonly Member[]): Promise<void> {
  const [first, second] = members;
  try {
    if (first !== undefined && second !== undefined) await callFor(members, first.inquiry);
  } finally {
    for (const member of members) member.end();
  }
}

async function callFor(members: readonly Member[], inquiry: Inquiry): Promise<void> {
  const { asked, besideBytes } = inquiry;
  const joint: Inquiry = {
    request: inquiry.request,
    asked: { ...asked, ask: (part) => asked.askForSeveral(part) },
    items: { ...inquiry.items, isList: true },
    besideBytes,
    topFor: (items) => inquiry.topFor(items),
    read: (bytes, items) => inquiry.read(bytes, items),
  };
  const asker = new PartAsker<Owned>(joint, (owned, read, part) => shareOut(owned, read, part, inquiry));
  // Where nobody is left who wants it, it is given up.
  const giveUp = (): void => {
    if (members.every(({ hasLeft }) => hasLeft)) asker.endWith({ error: new GatewayError('client_closed') });
  };
  for (const member of members) member.onLeft = giveUp;
  const owned = members.flatMap((member) => member.slots.map((slot): Owned => ({ bytes: slot.bytes, member, slot })));
  try {
    await asker.askAll(owned, asked.candidates);
  } catch (error) {
    asker.endWith({ error });
  }
  const { end } = asker;
  if (end !== undefined && 'answer' in end) end.answer.cancel();
}

function shareOut(owned: readonly Owned[], read: ReadAnswer, part: ReadPart, { asked, besideBytes }: Inquiry): void {
  const weights = owned.map(({ bytes }) => weightOf(bytes) + besideBytes);
  const found = foundIn(read, part, weights);
  const places = [...Map.groupBy(owned.keys(), (place) => owned[place]?.member)];
  const shares = asked.share(
    part,
    places.map(([, own]) => ({
      items: own.length,
      weight: own.reduce((sum, place) => sum + (weights[place] ?? 0), 0),
    })),
  );
  for (const [index, [member, own]] of places.entries()) {
    const share = shares[index];
    if (member === undefined || share === undefined) continue;
    const slots = own.flatMap((place) => owned[place]?.slot ?? []);
    member.take(
      slots,
      own.flatMap((place) => found[place] ?? []),
      share,
    );
  }
}
