/** Combines included configuration files (`include: [conf.d/*.yaml]`): lists are joined, any other section may be in one file only. */

import { glob } from 'node:fs/promises';
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { isMapping } from '../../lib/is-mapping.ts';
import { emptyMapping } from './columns.ts';
import { type FaultList, locatorFor, type Path, type Warning } from './faults.ts';
import { type Layer, withLayers } from './layers.ts';
import type { Source } from './source.ts';
import { type ReadSource, readSource } from './source-file.ts';
import { type Environment, substitute } from './substitute.ts';

const mostFiles = 1000;
const wildcard = /[*?[{]/;

/** Whether a section may be in several files; its elements are then numbered through all of them. */
type IsList = (key: string) => boolean;

/** The source with its included files. `files`: these, and the directories in which more may appear later; absolute paths. */
export async function withIncluded(
  source: Source,
  file: string,
  { env, cwd, isList }: { readonly env: Environment; readonly cwd: string; readonly isList: IsList },
) {
  const { tree, faults } = source;
  const written = isMapping(tree) ? tree.include : undefined;
  // Anything but a list of texts is validated with everything else.
  if (!isMapping(tree) || !Array.isArray(written)) return { source, files: [], warnings: [], read: [] };
  const patterns = substitute({ include: written }, env, faults).tree;
  const named: unknown = isMapping(patterns) ? patterns.include : [];
  const found = await findFiles(Array.isArray(named) ? named : [], file, source);
  const whole = createWhole(tree, isList, file);
  const layers: Layer[] = [];
  const read: ReadSource[] = [];
  for (const one of found.files) {
    const included = await readSource(one);
    layers.push(whole.add(included.source, fromHere(one, cwd), faults));
    read.push(included);
  }
  return {
    source: withLayers(source, whole.tree, layers),
    files: [...found.files, ...found.directories],
    warnings: found.warnings,
    read,
  };
}

/** The included files, each once, in the order of the patterns; those of one pattern in the order of their names. */
async function findFiles(patterns: readonly unknown[], file: string, { faults }: Source) {
  const directory = dirname(file);
  const files = new Set<string>();
  const directories = new Set<string>();
  const warnings: Warning[] = [];
  for (const [index, pattern] of patterns.entries()) {
    if (typeof pattern !== 'string') continue;
    const at = ['include', index];
    if (!wildcard.test(pattern)) {
      files.add(resolve(directory, pattern));
      continue;
    }
    directories.add(resolve(directory, fixedPart(pattern)));
    const matches: string[] = [];
    for await (const match of glob(pattern, { cwd: directory, exclude: isHidden })) {
      matches.push(resolve(directory, match));
      if (matches.length > mostFiles) break;
    }
    if (matches.length === 0) warnings.push({ path: at, text: ': no file has such a name' });
    if (matches.length > mostFiles) faults.add(at, `matches more than ${mostFiles} files; name them closer`);
    else for (const match of matches.toSorted()) directories.add(dirname(match)) && files.add(match);
  }
  if (files.delete(file)) faults.add(['include'], 'names this file itself; take it out');
  return { files: [...files], directories: [...directories], warnings };
}

/** Whether a name is hidden: editors and mounts keep copies under such names. */
const isHidden = (name: string): boolean => /(?:^|[\\/])\.[^\\/.]/.test(name);

const fixedPart = (pattern: string): string => dirname(`${pattern.slice(0, pattern.search(wildcard))}x`);

export function fromHere(file: string, cwd: string): string {
  const path = relative(cwd, file);
  return path.startsWith('..') || isAbsolute(path) ? file : path;
}

function createWhole(written: Readonly<Record<string, unknown>>, isList: IsList, file: string) {
  const tree = Object.assign(emptyMapping(), written);
  const owners = new Map(Object.keys(written).flatMap((key) => (isList(key) ? [] : [[key, file] as const])));

  function append(key: string, elements: readonly unknown[]): { readonly from: number; readonly to: number } {
    const before = tree[key];
    const list: unknown[] = Array.isArray(before) ? before : [];
    // Any other value of this section is a fault, and stays.
    if (before !== undefined && before !== null && !Array.isArray(before)) return { from: 0, to: 0 };
    tree[key] = [...list, ...elements];
    return { from: list.length, to: list.length + elements.length };
  }

  return {
    tree,
    add({ tree: own, positionOf, faults }: Source, origin: string, all: FaultList): Layer {
      const ranges = new Map<string, { readonly from: number; readonly to: number }>();
      const sections = new Set<string>();
      if (own !== undefined && !isMapping(own)) faults.add([], 'is not a mapping of keys to values');
      for (const [key, value] of Object.entries(isMapping(own) ? own : {})) {
        const taken = owners.get(key);
        if (key === '$schema') continue;
        if (key === 'include')
          faults.add([key], 'stands in a file that is itself included; name the files in the first one');
        else if (isList(key) && Array.isArray(value)) ranges.set(key, append(key, value));
        else if (taken !== undefined) faults.add([key], `stands in ${taken} too; keep one of the two`);
        else {
          tree[key] = value;
          owners.set(key, origin);
          sections.add(key);
        }
      }
      all.put(...faults.all(locatorFor(origin, positionOf)));
      return {
        origin,
        namesInner: true,
        positionOf,
        inner([key, index, ...rest]: Path) {
          if (typeof key !== 'string') return undefined;
          if (sections.has(key)) return index === undefined ? [key] : [key, index, ...rest];
          const range = ranges.get(key);
          if (range === undefined || typeof index !== 'number' || index < range.from || index >= range.to)
            return undefined;
          return [key, index - range.from, ...rest];
        },
      };
    },
  };
}
