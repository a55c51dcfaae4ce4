/** The name of a part as the most lenient reader has it. */

/** `model[]`, `model[0][a]`, ` Model` and `'model'`, in quotes that are none, are all read as `model` by somebody. */
export const plainName = (name: string): string => name.toLowerCase().replace(/\[.*$/s, '').replaceAll("'", '').trim();
