/** The `projects` section: shared settings of several keys. */

import type * as z from 'zod';
import type { Project } from '../../core/key.ts';
import type { Upstream } from '../../core/snapshot.ts';
import { nearestName } from '../../lib/nearest-name.ts';
import { type Path, suggestion } from '../read/faults.ts';
import { capsFields, toCaps } from './caps.ts';
import { type CompileContext, createClaims, type Entry, managerOf, quoted } from './context.ts';
import { mapping, notes, ownId, text } from './fields.ts';

/** An element of `projects`, key by key. */
export const projectSchema = mapping({
  id: ownId().describe('ID of the project.'),
  name: text('text without control characters, of 1 to 100 characters', /^[^\p{Cc}\p{Cs}]{1,100}$/u)
    .optional()
    .describe('Display name.'),
  files: ownId().optional().describe('Upstream that keeps the files of its keys. Without one, they have no files.'),
  metadata: notes,
  ...capsFields,
});

export type ProjectEntry = z.output<typeof projectSchema>;

/** The `projects` section as admission uses it: by ID. */
export function* compileProjects(
  entries: readonly Entry<ProjectEntry>[],
  upstreams: ReadonlyMap<string, Upstream>,
  context: CompileContext,
): Generator<undefined, ReadonlyMap<string, Project>, undefined> {
  const claim = createClaims(context);
  const projects = new Map<string, Project>();
  for (const { path, value } of entries) {
    yield;
    if (value.files !== undefined) checkFiles(value.files, [...path, 'files'], upstreams, context);
    const project = Object.freeze({
      id: value.id,
      managedBy: managerOf(path),
      name: value.name,
      caps: toCaps(value, path, context),
      files: value.files,
    });
    if (claim(value.id, [...path, 'id'])) projects.set(value.id, project);
  }
  return projects;
}

function checkFiles(id: string, path: Path, upstreams: ReadonlyMap<string, Upstream>, context: CompileContext): void {
  const upstream = upstreams.get(id);
  if (upstream === undefined) {
    const near = nearestName(id, [...upstreams.keys()]);
    const hint = near === undefined ? '' : suggestion(near);
    context.faults.add(path, `no upstream is called ${quoted(context, path, id)}${hint}`);
  } else if (upstream.filesPath === undefined) {
    context.faults.add(path, `the upstream keeps no files, as family ${upstream.family.id} does not; name another one`);
  }
}
