/** The `projects` section as admission uses it: by ID. */

import type { Project } from '../../../core/key.ts';
import { managerOf } from '../../store/resources.ts';
import { toCaps } from '../caps.ts';
import { type CompileContext, createClaims } from '../context.ts';
import type { Entry } from '../document.ts';
import type { ProjectEntry } from './schema.ts';

export function* compileProjects(
  entries: readonly Entry<ProjectEntry>[],
  context: CompileContext,
): Generator<undefined, ReadonlyMap<string, Project>, undefined> {
  const claim = createClaims(context);
  const projects = new Map<string, Project>();
  for (const { path, value } of entries) {
    yield;
    const project = Object.freeze({
      id: value.id,
      managedBy: managerOf(path),
      name: value.name,
      caps: toCaps(value, path, context),
    });
    if (claim(value.id, [...path, 'id'])) projects.set(value.id, project);
  }
  return projects;
}
