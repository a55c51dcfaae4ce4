/** Maps each vendor's moderation categories to OpenAI's. A test compares docs/reference/moderations.md with this table. */

/** OpenAI's categories, in the order of answers. */
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

/** OpenAI's categories by a vendor's own names; an empty list where OpenAI has none for it. */
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

/** Llama Guard 2: the same letter as Llama Guard 3, with other numbers from the fifth on. */
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

/** Llama Guard 1: the first code is "violence and hate", the fourth weapons, the fifth drugs. */
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

/** Folds a label, so that `Self-Harm`, `self_harm` and `selfharm` are equal. A label without letters or digits stays. */
export function foldLabel(label: string): string {
  const folded = label.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
  return folded === '' ? label : folded;
}

/** The categories of a vendor's name; undefined where the vendor's table lacks it. */
export function categoriesOf(table: Categories, name: string): readonly OpenaiCategory[] | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
