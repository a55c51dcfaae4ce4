/** Projects: what several keys have in common, in the words of the file, and how far their budgets have come. */

import * as z from 'zod';
import { managers } from '../../../core/resource-desk.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { idParam, instant, pageOf } from '../../shapes/common.ts';
import { place } from '../../shapes/resources.ts';
import { budgetState } from './keys.ts';

export const project = z.object({
  id: z.string(),
  managedBy: z.enum(managers),
  place: place.nullable(),
  version: z.number().int().nullable(),
  updatedAt: instant.nullable(),
  inForce: z.boolean().meta({ description: 'What was just written takes a moment.' }),
  document: z.record(z.string(), z.unknown()).meta({ description: 'As an element of `projects` in the file.' }),
  keys: z.number().int().meta({ description: 'Keys that belong to it, and are not revoked.' }),
  budgets: z.array(budgetState),
});

const projectPage = pageOf(project);

export const projectWritten = project.extend({ warnings: z.array(z.string()) });

const writtenProject = z.record(z.string(), z.unknown()).meta({
  description: 'As an element of `projects` in the configuration file; without `id`, or with the one of the path.',
  examples: [{ name: 'Search', limits: { requests_per_minute: 6000 }, budgets: [{ every: 'month', amount: '500' }] }],
});

export const listProjects = defineEndpoint({
  method: 'GET',
  path: '/api/projects',
  summary: 'List the projects, with how far their budgets have come',
  tag: 'Keys and projects',
  needs: 'viewer',
  answer: projectPage,
});

export const getProject = defineEndpoint({
  method: 'GET',
  path: '/api/projects/:id',
  summary: 'Show one project',
  tag: 'Keys and projects',
  needs: 'viewer',
  params: idParam,
  answer: project,
});

export const putProject = defineEndpoint({
  method: 'PUT',
  path: '/api/projects/:id',
  summary: 'Make a project, or change one',
  tag: 'Keys and projects',
  needs: 'admin',
  params: idParam,
  body: writtenProject,
  answer: projectWritten,
});

export const deleteProject = defineEndpoint({
  method: 'DELETE',
  path: '/api/projects/:id',
  summary: 'Remove a project to which no key belongs',
  tag: 'Keys and projects',
  needs: 'admin',
  params: idParam,
});
