/** A family as people see it: everything from its own facts, nothing from its name. */

import { type Family, isMadeHere, type Offer, offersOf, standardOptions } from '../../core/family.ts';
import { labels } from '../../core/label.ts';
import { operations } from '../../core/operations/index.ts';

export function toFamilyView(family: Family) {
  const { id, title, baseUrl, options = {}, chat, modelList, starter, builtIn = [] } = family;
  const standard = standardOptions(family);
  const offers = offersOf(family, standard);
  const auth = typeof family.auth === 'function' ? family.auth(standard) : family.auth;
  return {
    id,
    title,
    kind: kindOf(family, isMadeHere(offers)),
    baseUrl: baseUrl ?? null,
    needsAddress: baseUrl === undefined && !isMadeHere(offers),
    credential: credentialOf(family, auth !== undefined),
    header: auth?.header ?? null,
    options: Object.entries(options).map(([name, option]) => ({
      name,
      description: option.description,
      values: option.values === undefined ? null : [...option.values],
      pattern: option.pattern?.source ?? null,
      form: option.form ?? null,
      default: option.default ?? null,
      required: option.required === true,
    })),
    offers: labels.flatMap((label) =>
      operations.flatMap((operation) => {
        const offer = offers[label]?.[operation];
        if (offer === undefined) return [];
        return [{ label, operation, path: offer.path, way: wayOf(offer), facts: offer.facts ?? null }];
      }),
    ),
    listsModels: modelList !== undefined,
    bridges: chat !== undefined,
    takesLegacyEngines: offers.engines !== undefined,
    builtIn: builtIn.map(toModel),
    starter: starter === undefined ? null : { apiKeyEnv: starter.apiKeyEnv, models: starter.models.map(toModel) },
  };
}

const toModel = ({ id, operations: served }: { id: string; operations: readonly (typeof operations)[number][] }) => ({
  id,
  operations: [...served],
});

function kindOf({ baseUrl, addressFor }: Family, isBuiltIn: boolean): 'built-in' | 'own-server' | 'service' | 'cloud' {
  if (isBuiltIn) return 'built-in';
  if (baseUrl === undefined || addressFor !== undefined || baseUrl.includes('{')) return 'cloud';
  return URL.parse(baseUrl)?.hostname === '127.0.0.1' ? 'own-server' : 'service';
}

function credentialOf({ signer, credential }: Family, hasHeader: boolean): 'none' | 'key' | 'document' | 'signed' {
  if (credential === 'document') return 'document';
  if (signer !== undefined) return 'signed';
  return hasHeader ? 'key' : 'none';
}

function wayOf({ make, translation }: Offer): 'passes' | 'adapts' | 'translated' | 'made here' {
  if (make !== undefined) return 'made here';
  if (translation === undefined) return 'passes';
  return translation.isNeeded === undefined ? 'translated' : 'adapts';
}
