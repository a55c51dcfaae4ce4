/** The table of rooms in docs/explanations/architecture.md: what each owns, and the file to read first. */

import { doorOf, rooms } from './rooms.ts';

export function renderRooms(): string {
  const rows = rooms.map((room) => {
    const door = doorOf(room);
    return `| \`${room.path}\` | ${room.owns} | [${door.split('/').at(-1)}](../../${door}) |`;
  });
  return ['| room | what it owns | its door |', '|---|---|---|', ...rows].join('\n');
}
