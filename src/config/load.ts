/** Loads a configuration: finds the file, parses it, substitutes the environment, validates, reads named files, and compiles a snapshot. */

import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import type { Family } from '../core/family.ts';
import type { TakenPath } from '../core/paths.ts';
import type { Snapshot } from '../core/snapshot.ts';
import type { Resource } from '../core/store/resources.ts';
import { type KeyRing, SecretKeyError } from '../lib/secrets/sealed.ts';
import { withMasks } from '../lib/secrets/secret-shapes.ts';
import { inBackground } from '../lib/time-slices.ts';
import { compiling } from './elements/compile.ts';
import { isElementList, judgingDocument } from './elements/document.ts';
import { findMisplacedSecrets } from './elements/misplaced-secrets.ts';
import { keepingElements } from './elements/reuse.ts';
import { filesNamedIn, secretFilesIn, withSecrets } from './elements/secret-files.ts';
import { availableMemory } from './elements/server/compile.ts';
import { standardStore } from './elements/store.ts';
import { unknownVariables, withOutsideSettings } from './outside/settings.ts';
import { type Fault, FaultList, unlocated, type Warning } from './read/faults.ts';
import { findConfiguration } from './read/find.ts';
import { withIncluded } from './read/include.ts';
import { toWarningText } from './read/layers.ts';
import { readSideFiles } from './read/side-files.ts';
import type { FilePosition, Source } from './read/source.ts';
import { readSource } from './read/source-file.ts';
import { type Environment, substituting } from './read/substitute.ts';
import { type DeclaredElement, toDeclared, toKeyPositions, withoutKeys } from './store/declared.ts';
import { type Element, openElements, toChunks, withElements } from './store/resources.ts';
import { keyFileOf, readKeyRing, type SecretKeySource, warningOf } from './store/secret-key.ts';

export interface LoadOptions {
  /** The file of the option `--config`; to load the same configuration again, pass its `file`. */
  readonly configPath?: string | undefined;
  readonly env: Environment;
  /** The `--set` options, such as `server.port=8080`. */
  readonly set?: readonly string[] | undefined;
  /** Whether a variable that is named like a setting, but is none, is a fault. */
  readonly refusesUnknownVariables?: boolean | undefined;
  readonly cwd: string;
  readonly families: readonly Family[];
  /** Loads the paths that the gateway's routes already use; only a configuration with custom routes needs them. */
  readonly loadTakenPaths?: (() => Promise<readonly TakenPath[]>) | undefined;
  readonly resources?: readonly Resource[];
  readonly added?: readonly Element[];
  readonly nowMs?: () => number;
  readonly availableBytes?: number;
  readonly availableCores?: number;
}

export interface LoadedConfiguration {
  readonly ok: true;
  readonly snapshot: Snapshot;
  /** The file's absolute path; undefined where there is none and the embedded configuration applies. */
  readonly file: string | undefined;
  /** Settings from outside the file, by their variables and `--set` options. */
  readonly setOutside: readonly string[];
  /** The paths to watch: all files that were read, and those at which a configuration would be found. */
  readonly files: readonly string[];
  /** When reading the files began. */
  readonly readAtMs: number;
  readonly warnings: readonly string[];
  /** Secrets of services that stand in wrong places of the configuration, by the masks that replace them in output. */
  readonly misplacedSecrets: ReadonlyMap<string, string>;
  readonly credentialCounts: ReadonlyMap<string, number>;
  /** The elements of the file, or of the embedded configuration; computed on demand. */
  declared(): Promise<readonly DeclaredElement[]>;
  readonly keyPositions: ReadonlyMap<string, FilePosition>;
  readonly resources: readonly Resource[];
}

/** A configuration with faults. Its `files` are those read until then, because a change of one may fix it. */
export interface FaultyConfiguration extends Pick<LoadedConfiguration, 'file' | 'files' | 'readAtMs'> {
  readonly ok: false;
  readonly faults: readonly Fault[];
  /** The store's URL, if known; the configuration may have other faults once the store's elements are added. */
  readonly store: string | undefined;
}

/** Loads a configuration and reports all of its faults together. It never throws, and never blocks for long. */
export async function loadConfiguration(options: LoadOptions): Promise<LoadedConfiguration | FaultyConfiguration> {
  const { families, loadTakenPaths, cwd, set = [], resources = [], added = [], nowMs = Date.now } = options;
  const { availableBytes = availableMemory(), availableCores = availableParallelism() } = options;
  const readAtMs = nowMs();
  const { file, passedOver, awaited } = await findConfiguration(options);
  const sealed = toChunks(resources, added);
  const read = file === undefined ? undefined : await readSource(file);
  const written = read?.source ?? { ...unlocated, tree: embeddedConfiguration, faults: new FaultList() };
  const included =
    file === undefined
      ? undefined
      : await withIncluded(written, file, { env: options.env, cwd, isList: isElementList });
  const files = [...(file === undefined ? awaited : [file]), ...(included?.files ?? [])];
  const { source, env, origins } = withOutsideSettings(included?.source ?? written, options.env, set);
  const whole = withElements(source, sealed);
  const { tree, faults } = whole;
  const refused = (store?: string) => ({ ok: false, faults: faults.all(whole), file, files, readAtMs, store }) as const;
  if (tree === undefined) return refused();

  const substituted = await inBackground.timeSliced(substituting(tree, env, faults));
  const directory = file === undefined ? cwd : dirname(file);
  const secretFiles = await readSideFiles(secretFilesIn(substituted.tree), directory);
  files.push(...secretFiles.paths);
  const withFiles = withSecrets(substituted, secretFiles, faults);
  const substitution = { ...withFiles, tree: await inBackground.timeSliced(keepingElements(withFiles)) };
  if (options.refusesUnknownVariables === true) faults.put(...unknownVariables(options.env, substitution.names));
  const keySource = { env, cwd, store: storeIn(substitution.tree) };
  const elements = sealed.length === 0 ? sealed : openElements(sealed, await findKeyRing(keySource, faults), faults);
  const document = await inBackground.timeSliced(judgingDocument(substitution, { faults, locator: whole, elements }));
  if (document === undefined) return refused();

  const sideFiles = await readSideFiles(filesNamedIn(document), directory);
  files.push(...sideFiles.paths);
  const overridden = (name: string): string => `${name} is not read, as another configuration file stands beside it`;
  const warnings: Warning[] = [
    ...passedOver.map((name) => ({ path: [], text: overridden(name) })),
    ...(included?.warnings ?? []),
  ];
  const keyFile = elements.length === 0 ? undefined : keyFileOf(keySource);
  const keyWarning = keyFile === undefined ? undefined : await warningOf(keyFile);
  if (keyWarning !== undefined) warnings.push({ path: [], text: keyWarning });
  const misplacedSecrets = await inBackground.timeSliced(findMisplacedSecrets(substitution.tree, elements, warnings));
  const compilation = compiling(document, {
    families,
    takenPaths: document.routes.length === 0 ? [] : ((await loadTakenPaths?.()) ?? []),
    sideFiles,
    nowMs: nowMs(),
    availableBytes,
    availableCores,
    isInKubernetes: Boolean(options.env.KUBERNETES_SERVICE_HOST),
    faults,
    locator: whole,
    isSubstituted: substitution.isSubstituted,
    warnings,
  });
  const { snapshot, credentialCounts } = await inBackground.timeSliced(compilation);
  if (faults.all(whole).length > 0) return refused(snapshot.store);
  for (const one of [read, ...(included?.read ?? [])]) one?.keep();
  return {
    ok: true,
    snapshot,
    file,
    setOutside: origins,
    files,
    readAtMs,
    warnings: warnings.map((warning) => withMasks(toWarningText(warning, whole))),
    misplacedSecrets,
    credentialCounts,
    declared: createDeclared(source, substitution.tree, file),
    keyPositions: await inBackground.timeSliced(toKeyPositions(source, substitution.tree, file)),
    resources,
  };
}

/** This is a function of its own so that the closure keeps little in memory. */
function createDeclared(
  source: Source,
  substituted: unknown,
  file: string | undefined,
): () => Promise<readonly DeclaredElement[]> {
  const kept = { ...source, tree: withoutKeys(source.tree) };
  const keptSubstituted = withoutKeys(substituted);
  let declared: Promise<readonly DeclaredElement[]> | undefined;
  return () => {
    declared ??= inBackground.timeSliced(toDeclared(kept, keptSubstituted, file));
    return declared;
  };
}

function storeIn(tree: unknown): string | undefined {
  if (typeof tree !== 'object' || tree === null) return undefined;
  const written: unknown = Reflect.get(tree, 'store') ?? standardStore;
  return typeof written === 'string' ? written : undefined;
}

async function findKeyRing(keySource: SecretKeySource, faults: FaultList): Promise<KeyRing | 'none' | 'unfit'> {
  try {
    return (await readKeyRing(keySource)) ?? 'none';
  } catch (error) {
    if (!(error instanceof SecretKeyError)) throw error;
    faults.add([], error.message);
    return 'unfit';
  }
}

/** The configuration that applies without a file: an upstream that needs no network. */
const embeddedConfiguration = { upstreams: [{ id: 'local', family: 'local' }] };
