/** Draws the modules by layer with their imports, and the path of a request beside them. */

import { type ModuleImports, withoutImplied } from './imports.ts';
import { type Layer, layers, type Module } from './modules.ts';
import { requestPath } from './request-path.ts';
import { box, element, path, text, toLines } from './svg.ts';

const width = 980;
const margin = 24;
const head = 84;
const mapWidth = 632;
const gap = 10;
/** Distance between two layers, which is the length of an arrow. */
const step = 20;
const columns = 3;
const slabHeight = 44;
/** Width in a layer's box that is left for the names of its imports. */
const wordsWidth = 72;
/** Height of a module's box, without and with a line of imports. */
const boxHeight = { plain: 56, importing: 74 };
const frame = { title: 28, padding: 12 };
/** A layer of at least this many modules has a frame around them, and arrows lead to the frame. */
const framedFrom = 3;

/** Something that arrows lead to and from. */
interface Box {
  readonly modules: readonly Module[];
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export function drawMap(imports: ModuleImports): string {
  const shown = withoutImplied(imports);
  const drawn: string[] = [];
  let above: readonly Box[] = [];
  let y = head;
  for (const layer of layers) {
    const boxes = boxesOf(layer, y, shown);
    drawn.push(...arrows(above, boxes, imports));
    drawn.push(...(isFramed(layer) ? drawFrame(layer, boxes, shown) : drawRow(boxes, shown)));
    y += Math.max(...boxes.map(({ height }) => height)) + step;
    above = boxes;
  }
  const height = y - step + margin;
  const title = 'The modules of Postern by layer, and the path of a request';
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
      text('title', margin, 42, 'Modules by layer'),
      text(
        'muted',
        margin,
        64,
        'A module imports only modules below it; the arrow lists which (without core and implied ones).',
      ),
      ...drawn,
      ...drawPath(height - margin),
      '',
    ].join('\n'),
  )}\n`;
}

const isFramed = (layer: Layer): boolean => layer.modules.length >= framedFrom;

function boxesOf(layer: Layer, y: number, shown: ModuleImports): readonly Box[] {
  const { modules } = layer;
  const tall = heightOfBox(layer, shown);
  if (isFramed(layer)) {
    const rows = Math.ceil(modules.length / columns);
    const height = frame.title + rows * (tall + gap) - gap + frame.padding;
    return [{ modules, x: margin, y, width: mapWidth, height }];
  }
  const each = (mapWidth - (modules.length - 1) * gap) / modules.length;
  const height = modules.length === 1 ? slabHeight : tall;
  return modules.map((module, index) => ({
    modules: [module],
    x: margin + index * (each + gap),
    y,
    width: each,
    height,
  }));
}

const heightOfBox = ({ modules }: Layer, shown: ModuleImports): number =>
  modules.some((module) => arrowWords(module, shown).length > 0) ? boxHeight.importing : boxHeight.plain;

function arrows(above: readonly Box[], below: readonly Box[], imports: ModuleImports): string[] {
  return above.flatMap((from) =>
    below.flatMap((to) => {
      const isThere = from.modules.some(({ name }) => to.modules.some((other) => imports.get(name)?.has(other.name)));
      if (!isThere) return [];
      const narrower = from.width < to.width ? from : to;
      const x = narrower.x + narrower.width / 2;
      return [path('arrow', `M${x} ${to.y - step + 3}V${to.y - 4}m-4 -5l4 5l4 -5`)];
    }),
  );
}

function drawRow(boxes: readonly Box[], shown: ModuleImports): string[] {
  return boxes.flatMap(({ modules: [module], ...at }) => {
    if (module === undefined) return [];
    return at.height === slabHeight ? drawSlab(module, at, shown) : drawBox(module, at, shown);
  });
}

function drawFrame(layer: Layer, [bounds]: readonly Box[], shown: ModuleImports): string[] {
  if (bounds === undefined) return [];
  const { x, y } = bounds;
  const inner = bounds.width - 2 * frame.padding;
  const each = (inner - (columns - 1) * gap) / columns;
  const tall = heightOfBox(layer, shown);
  return [
    box('frame', x, y, bounds.width, bounds.height),
    text('layer', x + frame.padding + 2, y + 19, layer.title),
    ...layer.modules.flatMap((module, index) => {
      const column = index % columns;
      const row = Math.floor(index / columns);
      const at = {
        x: x + frame.padding + column * (each + gap),
        y: y + frame.title + row * (tall + gap),
        width: each,
        height: tall,
      };
      return drawBox(module, at, shown);
    }),
  ];
}

type Area = Omit<Box, 'modules'>;

function drawBox(module: Module, { x, y, width: boxWidth, height }: Area, shown: ModuleImports): string[] {
  return [
    box('module', x, y, boxWidth, height),
    text('name', x + 12, y + 23, module.name),
    ...badges(module, x + boxWidth - 8, y + 18),
    text('brief', x + 12, y + 42, module.brief),
    ...arrowWords(module, shown).map((words) => text('imports', x + 12, y + 62, words)),
  ];
}

function drawSlab(module: Module, { x, y, width: slabWidth, height }: Area, shown: ModuleImports): string[] {
  return [
    box('module', x, y, slabWidth, height),
    text('name', x + 12, y + 27, module.name),
    text('brief', x + 84, y + 27, module.brief),
    ...badges(module, x + slabWidth - wordsWidth, y + 22),
    ...arrowWords(module, shown).map((words) =>
      text('imports', x + slabWidth - 12, y + 27, words, { 'text-anchor': 'end' }),
    ),
  ];
}

/** The names of what a module imports, without core. A layer of which it reaches every module is named as one. */
function arrowWords({ name }: Module, shown: ModuleImports): string[] {
  const imported = new Set(shown.get(name));
  imported.delete('core');
  const isReached = ({ name: other }: Module): boolean =>
    imported.has(other) || [...imported].some((one) => shown.get(one)?.has(other) === true);
  const words: string[] = [];
  for (const layer of layers) {
    const names = layer.modules.map((module) => module.name).filter((module) => imported.has(module));
    const [first = layer.title] = layer.title.split(',');
    if (isFramed(layer) && names.length > 0 && layer.modules.every(isReached)) words.push(`all ${first}`);
    else words.push(...names);
  }
  return words.length === 0 ? [] : [`→ ${words.join(', ')}`];
}

/** The steps of a request in a module, runs of them as one, such as `4–6`; written from `right` to the left. */
function badges({ name }: Module, right: number, y: number): string[] {
  const runs: [first: number, last: number][] = [];
  for (const [index, { module }] of requestPath.entries()) {
    const run = runs.at(-1);
    if (module !== name) continue;
    if (run?.[1] === index) run[1] = index + 1;
    else runs.push([index + 1, index + 1]);
  }
  let end = right;
  return runs.toReversed().flatMap(([first, last]) => {
    const words = first === last ? String(first) : `${first}–${last}`;
    const badgeWidth = Math.max(19, words.length * 7 + 9);
    end -= badgeWidth + 4;
    return badge(end + badgeWidth / 2, y, words, badgeWidth);
  });
}

const badge = (x: number, y: number, words: string, badgeWidth = 19): string[] => [
  element('rect', { class: 'disc', x: x - badgeWidth / 2, y: y - 9.5, width: badgeWidth, height: 19, rx: 9.5 }),
  text('number', x, y + 3.8, words, { 'text-anchor': 'middle' }),
];

/** Draws the path of a request, in a column beside the layers. */
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
    ...requestPath.flatMap(({ module, file, does }, index) => {
      const y = top + index * each + 24;
      return [
        ...badge(centre, y, String(index + 1)),
        element(
          'text',
          { class: 'name small', x: x + 46, y: y + 4 },
          `${module}<tspan class="file">/${file.replace(/\.ts$/, '')}</tspan>`,
        ),
        ...toLines(does, 33).map((line, row) => text('brief', x + 46, y + 22 + row * 16, line)),
      ];
    }),
  ];
}

const sans = "system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif";
const mono = "ui-monospace,SFMono-Regular,Menlo,Consolas,'Noto Sans Mono','DejaVu Sans Mono',monospace";

const styles = `
svg{--sheet:#fff;--frame:#f4f6f8;--module:#fff;--line:#d0d7de;--ink:#1f2328;--muted:#59636e;--accent:#0f766e;--on-accent:#fff}
@media(prefers-color-scheme:dark){svg{--sheet:#0d1117;--frame:#151b23;--module:#1f2630;--line:#3d444d;--ink:#e6edf3;--muted:#9aa4af;--accent:#2dd4bf;--on-accent:#04211e}}
text{font:13px ${sans};fill:var(--ink)}
.sheet{fill:var(--sheet);stroke:var(--line)}.frame{fill:var(--frame)}.module{fill:var(--module);stroke:var(--line)}
.title{font-size:21px;font-weight:650}.muted,.brief,.file{fill:var(--muted)}.brief{font-size:12.5px}
.layer{font-size:12px;font-weight:600;fill:var(--muted)}
.name{font:600 14.5px ${mono}}.small{font-size:13px}.file{font-weight:400}
.imports{font-size:12.5px;font-weight:500;fill:var(--accent)}
.disc{fill:var(--accent)}.number{font-size:11px;font-weight:700;fill:var(--on-accent)}
.arrow,.thread{fill:none;stroke:var(--muted);stroke-width:1.5;stroke-linecap:round;stroke-linejoin:round}.thread{stroke:var(--line)}
`;
