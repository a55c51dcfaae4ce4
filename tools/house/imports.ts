/** Who imports whom among the rooms, as the code says; and what speaks against calling them rooms. */

import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { doorOf, type Layer, layers, type Room, roomless } from './rooms.ts';

/** Of each room, by name: the rooms that it imports. */
export type RoomImports = ReadonlyMap<string, ReadonlySet<string>>;

/** By path: the text of each file that runs for users. */
export type Sources = ReadonlyMap<string, string>;

export function readSources(): Sources {
  const paths = globSync(['src/**/*.ts', 'console/src/**/*.{ts,tsx}']).map((path) => path.replaceAll('\\', '/'));
  const running = paths.filter((path) => !/\.test\.tsx?$/.test(path));
  return new Map(running.map((path) => [path, readFileSync(path, 'utf8')]));
}

const importPattern = /(?:\bfrom|\bimport)\s*\(?\s*'(\.{1,2}\/[^']+)'/g;

/** Throws where a file has no room, a door is not there, or an import does not point downward. */
export function findRoomImports(sources: Sources, house: readonly Layer[] = layers): RoomImports {
  const rooms = house.flatMap((layer) => layer.rooms);
  const found = new Map(rooms.map(({ name }) => [name, new Set<string>()]));
  for (const [path, text] of sources) {
    const room = roomOf(path, rooms);
    if (room === undefined) {
      if (roomless.includes(path)) continue;
      throw new Error(`${path} is in no room of tools/house/rooms.ts`);
    }
    for (const [, target = ''] of text.matchAll(importPattern)) {
      const other = roomOf(posix.join(posix.dirname(path), target), rooms);
      if (other === undefined || other === room) continue;
      if (depthOf(other, house) <= depthOf(room, house)) {
        throw new Error(`${path} imports ${target}: in tools/house/rooms.ts ${other.name} is not below ${room.name}`);
      }
      found.get(room.name)?.add(other.name);
    }
  }
  const closed = rooms.find((room) => !sources.has(doorOf(room)));
  if (closed !== undefined) throw new Error(`the door of ${closed.name}, ${doorOf(closed)}, is not there`);
  return found;
}

/** Without those that follow from others: who imports core through a feature imports it in any case. */
export function withoutImplied(imports: RoomImports): RoomImports {
  const reaches = (from: string, to: string): boolean =>
    [...(imports.get(from) ?? [])].some((next) => next === to || reaches(next, to));
  const isImplied = (from: string, to: string): boolean =>
    [...(imports.get(from) ?? [])].some((next) => next !== to && reaches(next, to));
  return new Map(
    imports.entries().map(([from, all]) => [from, new Set([...all].filter((to) => !isImplied(from, to)))]),
  );
}

const roomOf = (path: string, rooms: readonly Room[]): Room | undefined =>
  rooms.find((room) => path === room.path || path.startsWith(`${room.path}/`));

const depthOf = (room: Room, house: readonly Layer[]): number => house.findIndex((layer) => layer.rooms.includes(room));
