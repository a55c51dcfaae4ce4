/** Reads the imports between modules, and finds violations of their layers. */

import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { firstFileOf, type Layer, layers, type Module, withoutModule } from './modules.ts';

/** For each module, the modules that it imports. */
export type ModuleImports = ReadonlyMap<string, ReadonlySet<string>>;

/** The text of each file that runs for users, by its path. */
export type Sources = ReadonlyMap<string, string>;

export function readSources(): Sources {
  const paths = globSync(['src/**/*.ts', 'console/src/**/*.{ts,tsx}']).map((path) => path.replaceAll('\\', '/'));
  const running = paths.filter((path) => !/\.test\.tsx?$/.test(path));
  return new Map(running.map((path) => [path, readFileSync(path, 'utf8')]));
}

const importPattern = /(?:\bfrom|\bimport)\s*\(?\s*'(\.{1,2}\/[^']+)'/g;

/** Finds what each module imports. Throws if a file has no module, a first file is missing, or an import does not point downward. */
export function findModuleImports(sources: Sources, all: readonly Layer[] = layers): ModuleImports {
  const modules = all.flatMap((layer) => layer.modules);
  const found = new Map(modules.map(({ name }) => [name, new Set<string>()]));
  for (const [path, text] of sources) {
    const module = moduleOf(path, modules);
    if (module === undefined) {
      if (withoutModule.includes(path)) continue;
      throw new Error(`${path} is in no module of tools/modules/modules.ts`);
    }
    for (const [, target = ''] of text.matchAll(importPattern)) {
      const other = moduleOf(posix.join(posix.dirname(path), target), modules);
      if (other === undefined || other === module) continue;
      if (depthOf(other, all) <= depthOf(module, all)) {
        throw new Error(
          `${path} imports ${target}: in tools/modules/modules.ts ${other.name} is not below ${module.name}`,
        );
      }
      found.get(module.name)?.add(other.name);
    }
  }
  const incomplete = modules.find((module) => !sources.has(firstFileOf(module)));
  if (incomplete !== undefined)
    throw new Error(`the first file of ${incomplete.name}, ${firstFileOf(incomplete)}, is missing`);
  return found;
}

/** Leaves out imports that follow from others: a module that imports a feature reaches core in any case. */
export function withoutImplied(imports: ModuleImports): ModuleImports {
  const reaches = (from: string, to: string): boolean =>
    [...(imports.get(from) ?? [])].some((next) => next === to || reaches(next, to));
  const isImplied = (from: string, to: string): boolean =>
    [...(imports.get(from) ?? [])].some((next) => next !== to && reaches(next, to));
  return new Map(
    imports.entries().map(([from, all]) => [from, new Set([...all].filter((to) => !isImplied(from, to)))]),
  );
}

const moduleOf = (path: string, modules: readonly Module[]): Module | undefined =>
  modules.find((module) => path === module.path || path.startsWith(`${module.path}/`));

const depthOf = (module: Module, all: readonly Layer[]): number =>
  all.findIndex((layer) => layer.modules.includes(module));
