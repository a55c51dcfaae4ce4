/** From nothing to a snapshot: find the file, read it, put in the environment, judge it, read what it names, compile it. */

import { totalmem } from 'node:os';
import { dirname } from 'node:path';
import type { Family } from '../core/family.ts';
import type { Snapshot } from '../core/snapshot.ts';
import { compile } from './compile.ts';
import { judgeDocument } from './document.ts';
import { embeddedConfiguration } from './embedded.ts';
import { createFaultList, type Fault } from './faults.ts';
import { findConfiguration } from './find.ts';
import { readSideFiles, readText } from './side-files.ts';
import { parseSource, type Source } from './source.ts';
import { type Environment, substitute } from './substitute.ts';

export interface LoadOptions {
  /** What `--config` names. To load again what was loaded before, give its `file`. */
  readonly configPath?: string | undefined;
  readonly env: Environment;
  readonly cwd: string;
  readonly families: readonly Family[];
  readonly nowMs?: () => number;
  /** The memory that the process may have. */
  readonly availableBytes?: number;
}

export interface LoadedConfiguration {
  readonly ok: true;
  readonly snapshot: Snapshot;
  /** Absolute; undefined where there is no file and the embedded configuration holds. */
  readonly file: string | undefined;
  /** Everything that was read, to be watched for changes. */
  readonly files: readonly string[];
  readonly warnings: readonly string[];
  readonly notices: readonly string[];
  /** How many credentials each upstream has, by its ID. */
  readonly credentialCounts: ReadonlyMap<string, number>;
}

export interface FaultyConfiguration {
  readonly ok: false;
  readonly faults: readonly Fault[];
  readonly file: string | undefined;
}

const largestFileBytes = 4 * 1024 * 1024;

/** Every fault at once. Whatever the file holds, this does not throw. */
export async function loadConfiguration(options: LoadOptions): Promise<LoadedConfiguration | FaultyConfiguration> {
  const { env, families, cwd, nowMs = Date.now, availableBytes = memoryOfProcess() } = options;
  const { file, passedOver } = await findConfiguration(options);
  const source = await readSource(file);
  const { faults, positionOf } = source;
  if (source.tree === undefined) return { ok: false, faults: faults.all(), file };

  const substitution = substitute(source.tree, env, faults);
  const document = judgeDocument(substitution, faults);
  if (document === undefined) return { ok: false, faults: faults.all(), file };

  const sideFiles = await readSideFiles(document, file === undefined ? cwd : dirname(file));
  const warnings = passedOver.map((name) => `${name} is not read, as another configuration file stands beside it`);
  const notices: string[] = [];
  const { isSubstituted } = substitution;
  const { snapshot, credentialCounts } = compile(document, {
    families,
    sideFiles,
    nowMs: nowMs(),
    availableBytes,
    faults,
    positionOf,
    isSubstituted,
    warnings,
    notices,
  });
  const found = faults.all();
  if (found.length > 0) return { ok: false, faults: found, file };
  const files = file === undefined ? [] : [file, ...sideFiles.paths];
  return { ok: true, snapshot, file, files, warnings, notices, credentialCounts };
}

/** What its container may have, where that is less than the machine has; 0 means that nobody set a bound. */
function memoryOfProcess(): number {
  return Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem());
}

async function readSource(file: string | undefined): Promise<Source> {
  const nowhere = createFaultList(() => undefined);
  if (file === undefined) return { tree: embeddedConfiguration, positionOf: () => undefined, faults: nowhere };
  const content = await readText(file, largestFileBytes);
  if ('text' in content) return parseSource(content.text);
  nowhere.add([], `the configuration file cannot be used: ${content.reason}`);
  return { tree: undefined, positionOf: () => undefined, faults: nowhere };
}
