/** Recognises configuration files of other gateways, and values with variables that nobody has substituted. */

import { isMapping } from '../../lib/is-mapping.ts';
import type { FaultList, Path } from './faults.ts';
import type { Substitution } from './substitute.ts';
import { textsIn } from './tree.ts';

interface ForeignFormat {
  readonly name: string;
  /** The gateway's name for `postern import`. */
  readonly imported: string;
  readonly becomes: string;
  fits(tree: unknown): boolean;
}

const formats: readonly ForeignFormat[] = [
  {
    name: 'LiteLLM',
    imported: 'litellm',
    becomes:
      'each model_name of model_list becomes a model, its litellm_params a target, and each api_base with its api_key an upstream',
    fits: (tree) =>
      isMapping(tree) &&
      (Array.isArray(tree.model_list) || isMapping(tree.litellm_settings) || isMapping(tree.router_settings)),
  },
  {
    name: 'Portkey',
    imported: 'portkey',
    becomes: 'each provider with its key becomes an upstream, and the targets of a strategy become those of a model',
    fits: (tree) =>
      isMapping(tree) &&
      ((Array.isArray(tree.targets) && tree.targets.some(isPortkeyTarget)) ||
        (isMapping(tree.strategy) && typeof tree.strategy.mode === 'string') ||
        typeof tree.virtual_key === 'string' ||
        typeof tree.provider === 'string'),
  },
  {
    name: 'new-api',
    imported: 'new-api',
    becomes: 'each channel becomes an upstream, and each of its models a model with a target there',
    fits: (tree) => channelLists(tree).some((list) => list.some(isChannel)) || runsNewApi(tree),
  },
  {
    name: 'Bifrost',
    imported: 'bifrost',
    becomes: 'each key of a provider becomes an upstream, and each of its models a model with a target there',
    fits: (tree) =>
      isMapping(tree) &&
      isMapping(tree.providers) &&
      Object.values(tree.providers).some((provider) => isMapping(provider) && Array.isArray(provider.keys)),
  },
];

const isPortkeyTarget = (value: unknown): boolean =>
  isMapping(value) && ['provider', 'virtual_key', 'override_params'].some((name) => value[name] !== undefined);

/** A file that an admin API exported may have an envelope around the list of channels. */
function channelLists(tree: unknown): (readonly unknown[])[] {
  if (!isMapping(tree)) return Array.isArray(tree) ? [tree] : [];
  const { data, channels } = tree;
  const items = isMapping(data) ? data.items : data;
  return [channels, items].filter((list) => Array.isArray(list));
}

const isChannel = (value: unknown): boolean =>
  isMapping(value) && typeof value.type === 'number' && typeof value.models === 'string';

function runsNewApi(tree: unknown): boolean {
  if (!isMapping(tree) || !isMapping(tree.services)) return false;
  return Object.values(tree.services).some(
    (service) => isMapping(service) && typeof service.image === 'string' && /\b(?:new|one)-api\b/.test(service.image),
  );
}

export function foreignFileFault(tree: unknown): string | undefined {
  const format = formats.find(({ fits }) => fits(tree));
  if (format === undefined) return undefined;
  return `is a file of ${format.name}'s, and Postern has words of its own: ${format.becomes} (docs/guides/migrate.md); postern import ${format.imported} brings it over, postern init writes a file to start from`;
}

/** A variable in another syntax: `$NAME`, alone or within a URL or a header; and forms of other gateways and shells. */
const variable =
  /(?:^|[\s:@/])\$[A-Z_][A-Z0-9_]{2,}(?=$|[\s:@/])|^(?:os\.environ\/\w+|process\.env\.\w+|\$env:\w+|\$\(\w+\)|%[A-Z_][A-Z0-9_]*%|\{\{\s*\w+\s*\}\})$/;

/** A quick test that every text with such a variable passes. */
const mayNameVariable = /[$%{]|^os\.|^process\./;

/** Keys whose texts may hold anything, as they are for a service or for people, not for Postern. */
const freeText = new Set<string | number>(['defaults', 'metadata']);

/** Finds values that refer to a variable in another program's syntax, and would be taken literally. */
export function checkLiteralVariables(
  value: unknown,
  path: Path,
  { faults, isSubstituted }: { readonly faults: FaultList; readonly isSubstituted: Substitution['isSubstituted'] },
): void {
  const fits = (text: string): boolean => mayNameVariable.test(text) && variable.test(text);
  for (const found of textsIn(value, path, { fits })) {
    if (found.path.slice(path.length).some((step) => freeText.has(step)) || isSubstituted(found.path)) continue;
    faults.add(
      found.path,
      `names a variable and is taken as it stands; write \${NAME} to read the environment, with the variable's own name`,
    );
  }
}
