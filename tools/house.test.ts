import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { findRoomImports, readSources, withoutImplied } from './house/imports.ts';
import { drawMap } from './house/map.ts';
import { requestPath } from './house/request-path.ts';
import { type Layer, rooms } from './house/rooms.ts';
import { renderRooms } from './house/table.ts';

const room = (name: string) => ({ name, path: `src/${name}`, brief: name, owns: name, door: 'index.ts' });
const house: readonly Layer[] = [
  { title: 'above', rooms: [room('above')] },
  { title: 'beside', rooms: [room('one'), room('other')] },
  { title: 'below', rooms: [room('below')] },
];
const doors = Object.fromEntries(house.flatMap((layer) => layer.rooms).map(({ path }) => [`${path}/index.ts`, '']));
const importsOf = (files: Readonly<Record<string, string>>) =>
  findRoomImports(new Map(Object.entries({ ...doors, ...files })), house);

test('what the code imports is what is drawn, and what follows from it is left out', () => {
  const imports = importsOf({
    'src/above/a.ts': "import { b } from '../one/b.ts';\nimport type { c } from '../below/c.ts';",
    'src/one/b.ts': "export { c } from '../below/c.ts';",
  });
  assert.deepEqual([...(imports.get('above') ?? [])], ['one', 'below']);
  assert.deepEqual([...(withoutImplied(imports).get('above') ?? [])], ['one']);
  assert.deepEqual([...(imports.get('other') ?? [])], []);
});

test('an import that points up or beside, a file without a room, and a room without its door are told', () => {
  const up = { 'src/below/x.ts': "import { a } from '../above/a.ts';" };
  assert.throws(() => importsOf(up), /src\/below\/x\.ts imports \.\.\/above\/a\.ts: .*above is not below below/);
  const beside = { 'src/one/x.ts': "const a = await import('../other/a.ts');" };
  assert.throws(() => importsOf(beside), /other is not below one/);
  assert.throws(() => importsOf({ 'src/attic/x.ts': '' }), /src\/attic\/x\.ts is in no room/);
  const { 'src/other/index.ts': _, ...rest } = doors;
  assert.throws(() => findRoomImports(new Map(Object.entries(rest)), house), /the door of other, .* is not there/);
});

test('every room is in the picture and in the table, and each step of a request is where it says', () => {
  const drawn = drawMap(findRoomImports(readSources()));
  const table = renderRooms();
  for (const { name, path } of rooms) {
    assert.ok(drawn.includes(`>${name}</text>`), name);
    assert.ok(table.includes(`\`${path}\``), path);
  }
  for (const { room: name, file } of requestPath) {
    const path = rooms.find((one) => one.name === name)?.path ?? assert.fail(`there is no room ${name}`);
    assert.ok(existsSync(`${path}/${file}`), `${path}/${file}`);
  }
});
