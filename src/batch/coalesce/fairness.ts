/** In which order members are asked for: one of each key in turn, so that a key with many holds up nobody with few. */

interface OfKey {
  readonly key: string;
}

export function inTurnsByKey<T extends OfKey>(members: readonly T[]): T[] {
  const byKey = [...Map.groupBy(members, ({ key }) => key).values()];
  const ordered: T[] = [];
  for (let turn = 0; ordered.length < members.length; turn += 1) {
    for (const own of byKey) {
      const member = own[turn];
      if (member !== undefined) ordered.push(member);
    }
  }
  return ordered;
}
