/** Maps each vendor's moderation categories to OpenAI's. A test compares docs/reference/moderations.md with this table. */

/** In the order of answers. */
export const openaiCategories = [
  'harassment',
  'harassment/threatening',
  'hate',
  'hate/threatening',
  'illicit',
  'illicit/violent',
  'self-harm',
  'self-harm/intent',
  'self-harm/instructions',
  'sexual',
  'sexual/minors',
  'violence',
  'violence/graphic',
] as const;

export type OpenaiCategory = (typeof openaiCategories)[number];

/** By the maker's own names; empty for what OpenAI has no category for. */
export type Categories = Readonly<Record<string, readonly OpenaiCategory[]>>;

export const mistralCategories: Categories = {
  sexual: ['sexual'],
  hate_and_discrimination: ['hate'],
  violence_and_threats: ['violence'],
  selfharm: ['self-harm'],
  dangerous_and_criminal_content: ['illicit'],
  dangerous: ['illicit'],
  criminal: ['illicit'],
  health: [],
  financial: [],
  law: [],
  pii: [],
  jailbreaking: [],
};

export const azureCategories: Categories = {
  Hate: ['hate'],
  SelfHarm: ['self-harm'],
  Sexual: ['sexual'],
  Violence: ['violence'],
};

export const llamaGuard3Categories: Categories = {
  S1: ['illicit/violent', 'violence'],
  S2: ['illicit'],
  S3: ['sexual'],
  S4: ['sexual/minors'],
  S5: [],
  S6: [],
  S7: [],
  S8: [],
  S9: ['illicit/violent'],
  S10: ['hate'],
  S11: ['self-harm'],
  S12: ['sexual'],
  S13: [],
  S14: [],
};

/** The same letter, with other numbers from the fifth on. */
export const llamaGuard2Categories: Categories = {
  S1: ['illicit/violent', 'violence'],
  S2: ['illicit'],
  S3: ['sexual'],
  S4: ['sexual/minors'],
  S5: [],
  S6: [],
  S7: [],
  S8: ['illicit/violent'],
  S9: ['hate'],
  S10: ['self-harm'],
  S11: ['sexual'],
};

/** Here the first is "violence and hate", the fourth weapons, the fifth drugs. */
export const llamaGuard1Categories: Categories = {
  O1: ['violence', 'hate'],
  O2: ['sexual'],
  O3: ['illicit'],
  O4: ['illicit/violent'],
  O5: ['illicit'],
  O6: ['self-harm'],
};

/** Labels of common classifiers, as folded by `foldLabel`; OpenAI's own names are labels too. */
export const labelCategories: Categories = {
  ...Object.fromEntries(openaiCategories.map((category) => [foldLabel(category), [category]])),
  toxic: ['harassment'],
  toxicity: ['harassment'],
  severetoxic: ['harassment'],
  severetoxicity: ['harassment'],
  insult: ['harassment'],
  offensive: ['harassment'],
  threat: ['harassment/threatening'],
  hateful: ['hate'],
  hatespeech: ['hate'],
  identityhate: ['hate'],
  identityattack: ['hate'],
  sexualexplicit: ['sexual'],
  nsfw: ['sexual'],
  violent: ['violence'],
  obscene: [],
  unsafe: [],
  jailbreak: [],
  injection: [],
  malicious: [],
};

/** Labels of harmless inputs. */
export const harmlessLabels: ReadonlySet<string> = new Set([
  'ok',
  'safe',
  'sfw',
  'benign',
  'clean',
  'harmless',
  'neutral',
  'normal',
  'none',
  'nontoxic',
  'nottoxic',
  'nohate',
  'nothate',
  'nonhate',
  'nothatespeech',
  'nonhatespeech',
  'nonoffensive',
  'notoffensive',
]);

/** One spelling for `Self-Harm`, `self_harm` and `selfharm`. A label without letters or digits stays. */
export function foldLabel(label: string): string {
  const folded = label.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
  return folded === '' ? label : folded;
}

/** Undefined where the maker's table lacks the name. */
export function categoriesOf(table: Categories, name: string): readonly OpenaiCategory[] | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
