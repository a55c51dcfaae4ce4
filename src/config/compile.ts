/** Turns a configuration that fits the schema into a frozen snapshot. Pure: what it needs from files was read before. */

import { type Operation, operations } from '../core/operation.ts';
import type { ModelIndex, Snapshot } from '../core/snapshot.ts';
import { nearestName } from '../lib/nearest-name.ts';
import { type CompileContext, quoted } from './context.ts';
import type { ConfigurationDocument } from './document.ts';
import { suggestion } from './faults.ts';
import { compileKeys } from './keys.ts';
import { createModelIndex } from './model-index.ts';
import { compileModels } from './models.ts';
import { noticesOf } from './notices.ts';
import { toServerSettings } from './server-settings.ts';
import { compileUpstreams } from './upstreams.ts';

export interface Compiled {
  readonly snapshot: Snapshot;
  /** How many credentials each upstream has, by its ID. */
  readonly credentialCounts: ReadonlyMap<string, number>;
}

/** What comes back is fit to run only while the context's list of faults stays empty. */
export function compile(document: ConfigurationDocument, context: CompileContext): Compiled {
  const { settings } = document;
  context.notices.push(...noticesOf(document));
  const server = toServerSettings(settings.server, context);
  checkStore(settings.store, context);
  const { byId, credentialCounts } = compileUpstreams(document.upstreams, context);
  const models = createModelIndex(compileModels(document, byId, context));
  if (settings.upstreams.length === 0) context.warnings.push('upstreams: there are none, so nothing is served');
  const snapshot = Object.freeze({
    createdAtS: Math.floor(context.nowMs / 1000),
    server,
    store: settings.store,
    upstreams: byId,
    models,
    defaultModels: toDefaultModels(document, models, context),
    keys: compileKeys(document, models, context),
  });
  return { snapshot, credentialCounts };
}

function checkStore(store: string, { faults }: CompileContext): void {
  if (/^postgres(ql)?:/i.test(store)) {
    faults.add(['store'], 'PostgreSQL is not in this version; write sqlite:<path>, such as sqlite:data/postern.db');
  } else if (!/^sqlite:./.test(store)) {
    faults.add(['store'], 'wanted: sqlite:<path of the database file>, such as sqlite:data/postern.db');
  }
}

function toDefaultModels(
  { settings, modelNames }: ConfigurationDocument,
  models: ModelIndex,
  context: CompileContext,
): Readonly<Partial<Record<Operation, string>>> {
  const result: Partial<Record<Operation, string>> = {};
  for (const operation of operations) {
    const name = settings.default_model[operation];
    if (name === undefined) continue;
    const path = ['default_model', operation];
    const model = name.includes('*') ? undefined : models.resolve(name)?.model;
    if (model === undefined) {
      if (modelNames.has(name) && !name.includes('*')) continue; // it is in the file, with a fault of its own
      const near = nearestName(
        name,
        models.all.map(({ id }) => id),
      );
      context.faults.add(path, `unknown model ${quoted(context, path, name)}${suggestion(near)}`);
    } else if (!model.operations.includes(operation)) {
      context.faults.add(
        path,
        `${quoted(context, path, name)} does not serve ${operation}; it serves ${model.operations.join(', ')}`,
      );
    }
    result[operation] = name;
  }
  return Object.freeze(result);
}
