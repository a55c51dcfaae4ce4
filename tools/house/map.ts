/** Draws the rooms: layers from top to bottom, what imports what, and the path of a request beside them. */

import { type RoomImports, withoutImplied } from './imports.ts';
import { requestPath } from './request-path.ts';
import { type Layer, layers, type Room } from './rooms.ts';
import { box, element, path, text, toLines } from './svg.ts';

const width = 980;
const margin = 24;
const head = 84;
const mapWidth = 632;
const gap = 10;
/** Between layers: an arrow's length. */
const step = 20;
const columns = 3;
const slabHeight = 44;
/** A name and a few words, and a line of imports below them. */
const boxHeight = { plain: 56, importing: 74 };
const frame = { title: 28, padding: 12 };
/** A layer of so many rooms has a frame around them, and arrows lead to the frame. */
const framedFrom = 3;

/** Something that arrows lead to and from. */
interface Place {
  readonly rooms: readonly Room[];
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export function drawMap(imports: RoomImports): string {
  const shown = withoutImplied(imports);
  const drawn: string[] = [];
  let above: readonly Place[] = [];
  let y = head;
  for (const layer of layers) {
    const places = placesOf(layer, y, shown);
    drawn.push(...arrows(above, places, imports));
    drawn.push(...(isFramed(layer) ? drawFrame(layer, places, shown) : drawRow(places, shown)));
    y += Math.max(...places.map(({ height }) => height)) + step;
    above = places;
  }
  const height = y - step + margin;
  const title = 'The rooms of Postern, layer by layer, and the path of a request through them';
  return `${element(
    'svg',
    {
      xmlns: 'http://www.w3.org/2000/svg',
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: 'img',
      'aria-label': title,
    },
    [
      `\n<title>${title}</title>\n<style>${styles}</style>`,
      element('rect', { class: 'sheet', x: 0.5, y: 0.5, width: width - 1, height: height - 1, rx: 12 }),
      text('title', margin, 42, 'The house, room by room'),
      text(
        'muted',
        margin,
        64,
        'A room imports only what is below it. After an arrow stands what; core, and what follows from others, is left out.',
      ),
      ...drawn,
      ...drawPath(height - margin),
      '',
    ].join('\n'),
  )}\n`;
}

const isFramed = (layer: Layer): boolean => layer.rooms.length >= framedFrom;

function placesOf(layer: Layer, y: number, shown: RoomImports): readonly Place[] {
  const { rooms } = layer;
  const tall = heightOfBox(layer, shown);
  if (isFramed(layer)) {
    const rows = Math.ceil(rooms.length / columns);
    const height = frame.title + rows * (tall + gap) - gap + frame.padding;
    return [{ rooms, x: margin, y, width: mapWidth, height }];
  }
  const each = (mapWidth - (rooms.length - 1) * gap) / rooms.length;
  const height = rooms.length === 1 ? slabHeight : tall;
  return rooms.map((room, index) => ({ rooms: [room], x: margin + index * (each + gap), y, width: each, height }));
}

const heightOfBox = ({ rooms }: Layer, shown: RoomImports): number =>
  rooms.some((room) => arrowWords(room, shown).length > 0) ? boxHeight.importing : boxHeight.plain;

function arrows(above: readonly Place[], below: readonly Place[], imports: RoomImports): string[] {
  return above.flatMap((from) =>
    below.flatMap((to) => {
      const isThere = from.rooms.some(({ name }) => to.rooms.some((other) => imports.get(name)?.has(other.name)));
      if (!isThere) return [];
      const narrower = from.width < to.width ? from : to;
      const x = narrower.x + narrower.width / 2;
      return [path('arrow', `M${x} ${to.y - step + 3}V${to.y - 4}m-4 -5l4 5l4 -5`)];
    }),
  );
}

function drawRow(places: readonly Place[], shown: RoomImports): string[] {
  return places.flatMap(({ rooms: [room], ...at }) => {
    if (room === undefined) return [];
    return at.height === slabHeight ? drawSlab(room, at, shown) : drawBox(room, at, shown);
  });
}

function drawFrame(layer: Layer, [place]: readonly Place[], shown: RoomImports): string[] {
  if (place === undefined) return [];
  const { x, y } = place;
  const inner = place.width - 2 * frame.padding;
  const each = (inner - (columns - 1) * gap) / columns;
  const tall = heightOfBox(layer, shown);
  return [
    box('frame', x, y, place.width, place.height),
    text('layer', x + frame.padding + 2, y + 19, layer.title),
    ...layer.rooms.flatMap((room, index) => {
      const column = index % columns;
      const row = Math.floor(index / columns);
      const at = {
        x: x + frame.padding + column * (each + gap),
        y: y + frame.title + row * (tall + gap),
        width: each,
        height: tall,
      };
      return drawBox(room, at, shown);
    }),
  ];
}

type Area = Omit<Place, 'rooms'>;

function drawBox(room: Room, { x, y, width: boxWidth, height }: Area, shown: RoomImports): string[] {
  const steps = stepsIn(room);
  return [
    box('room', x, y, boxWidth, height),
    text('name', x + 12, y + 23, room.name),
    ...steps.flatMap((no, index) => disc(x + boxWidth - 18 - (steps.length - 1 - index) * 23, y + 18, no)),
    text('brief', x + 12, y + 42, room.brief),
    ...arrowWords(room, shown).map((words) => text('imports', x + 12, y + 62, words)),
  ];
}

function drawSlab(room: Room, { x, y, width: slabWidth, height }: Area, shown: RoomImports): string[] {
  return [
    box('room', x, y, slabWidth, height),
    text('name', x + 12, y + 27, room.name),
    text('brief', x + 84, y + 27, room.brief),
    ...arrowWords(room, shown).map((words) =>
      text('imports', x + slabWidth - 12, y + 27, words, { 'text-anchor': 'end' }),
    ),
  ];
}

/** What a room imports, core apart; a layer of which it imports every room has one word. */
function arrowWords({ name }: Room, shown: RoomImports): string[] {
  const imported = new Set(shown.get(name));
  imported.delete('core');
  const words: string[] = [];
  for (const layer of layers) {
    const names = layer.rooms.map((room) => room.name).filter((room) => imported.has(room));
    const [first = layer.title] = layer.title.split(',');
    if (isFramed(layer) && names.length === layer.rooms.length) words.push(`all ${first}`);
    else words.push(...names);
  }
  return words.length === 0 ? [] : [`→ ${words.join(', ')}`];
}

const stepsIn = ({ name }: Room): number[] =>
  requestPath.flatMap(({ room }, index) => (room === name ? [index + 1] : []));

const disc = (x: number, y: number, no: number): string[] => [
  element('circle', { class: 'disc', cx: x, cy: y, r: 9.5 }),
  text('number', x, y + 3.8, String(no), { 'text-anchor': 'middle' }),
];

/** In a column of its own, beside all the layers. */
function drawPath(bottom: number): string[] {
  const x = margin + mapWidth + margin;
  const top = head + 24;
  const each = (bottom - top) / requestPath.length;
  const centre = x + 24;
  const last = top + each * (requestPath.length - 1);
  return [
    box('frame', x, head, width - margin - x, bottom - head),
    text('layer', x + 14, head + 19, 'the path of a request'),
    path('thread', `M${centre} ${top + 24}V${last + 24}`),
    ...requestPath.flatMap(({ room, file, does }, index) => {
      const y = top + index * each + 24;
      return [
        ...disc(centre, y, index + 1),
        element(
          'text',
          { class: 'name small', x: x + 46, y: y + 4 },
          `${room}<tspan class="file">/${file.replace(/\.ts$/, '')}</tspan>`,
        ),
        ...toLines(does, 33).map((line, row) => text('brief', x + 46, y + 22 + row * 16, line)),
      ];
    }),
  ];
}

const sans = "system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif";
const mono = "ui-monospace,SFMono-Regular,Menlo,Consolas,'Noto Sans Mono','DejaVu Sans Mono',monospace";

const styles = `
svg{--sheet:#fff;--frame:#f4f6f8;--room:#fff;--line:#d0d7de;--ink:#1f2328;--muted:#59636e;--accent:#0f766e;--on-accent:#fff}
@media(prefers-color-scheme:dark){svg{--sheet:#0d1117;--frame:#151b23;--room:#1f2630;--line:#3d444d;--ink:#e6edf3;--muted:#9aa4af;--accent:#2dd4bf;--on-accent:#04211e}}
text{font:13px ${sans};fill:var(--ink)}
.sheet{fill:var(--sheet);stroke:var(--line)}.frame{fill:var(--frame)}.room{fill:var(--room);stroke:var(--line)}
.title{font-size:21px;font-weight:650}.muted,.brief,.file{fill:var(--muted)}.brief{font-size:12.5px}
.layer{font-size:12px;font-weight:600;fill:var(--muted)}
.name{font:600 14.5px ${mono}}.small{font-size:13px}.file{font-weight:400}
.imports{font-size:12.5px;font-weight:500;fill:var(--accent)}
.disc{fill:var(--accent)}.number{font-size:11px;font-weight:700;fill:var(--on-accent)}
.arrow,.thread{fill:none;stroke:var(--muted);stroke-width:1.5;stroke-linecap:round;stroke-linejoin:round}.thread{stroke:var(--line)}
`;
