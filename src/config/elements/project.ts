/** Defines and compiles the `projects` section of the configuration: limits and budgets that several keys share. */

import type * as z from 'zod';
import type { Project } from '../../core/key.ts';
import type { Upstream } from '../../core/snapshot.ts';
import { capsFields, toCaps } from './caps.ts';
import { type CompileContext, createClaims, type Entry, Location, managerOf } from './context.ts';
import { displayName, mapping, notes, ownId } from './fields.ts';

export const projectSchema = mapping({
  id: ownId().describe('ID of the project.'),
  name: displayName().optional().describe('Display name.'),
  files: ownId().optional().describe('Upstream that keeps the files of its keys. Without one, they have no files.'),
  metadata: notes,
  ...capsFields,
});

export type ProjectEntry = z.output<typeof projectSchema>;

export function* compileProjects(
  entries: readonly Entry<ProjectEntry>[],
  upstreams: ReadonlyMap<string, Upstream>,
  context: CompileContext,
): Generator<undefined, ReadonlyMap<string, Project>, undefined> {
  const claim = createClaims();
  const projects = new Map<string, Project>();
  for (const { path, value } of entries) {
    yield;
    const location = new Location(context, path);
    if (value.files !== undefined) checkFiles(value.files, upstreams, location.at('files'));
    const project = Object.freeze({
      id: value.id,
      managedBy: managerOf(path),
      name: value.name,
      caps: toCaps(value, location),
      files: value.files,
    });
    if (claim(value.id, location, 'id')) projects.set(value.id, project);
  }
  return projects;
}

function checkFiles(id: string, upstreams: ReadonlyMap<string, Upstream>, location: Location): void {
  const upstream = upstreams.get(id);
  if (upstream === undefined) {
    location.unknown('no upstream is called', id, upstreams.keys());
  } else if (upstream.filesPath === undefined) {
    location.fault(`the upstream keeps no files, as family ${upstream.family.id} does not; name another one`);
  }
}
