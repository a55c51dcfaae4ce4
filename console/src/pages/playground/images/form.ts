/** What the fields for pictures hold, and the call that comes of it. */

import type { Call, FormPart } from '../call.ts';
import type { Example } from '../examples.tsx';
import { parseFurther } from '../further.ts';
import { toNumbers } from '../more-options.tsx';

/** Made from words; changed as words say; made like another. */
export const imageOperations = ['images', 'image_edits', 'image_variations'] as const;
export type ImageOperation = (typeof imageOperations)[number];

export interface ImagesForm {
  operation: string;
  model: string;
  other: string;
  prompt: string;
  n: string;
  size: string;
  quality: string;
  format: string;
  further: string;
}

export const imagesExamples: readonly Example<ImagesForm>[] = [
  {
    title: 'Make one',
    values: { operation: 'images', prompt: 'A small wooden gate in an old castle wall, ink drawing' },
  },
  { title: 'Change one', values: { operation: 'image_edits', prompt: 'Make it a night scene, with a lantern' } },
];

export const sampleForm: ImagesForm = {
  operation: 'images',
  model: '',
  other: '',
  prompt: 'A small wooden gate in an old castle wall, ink drawing',
  n: '',
  size: '',
  quality: '',
  format: '',
  further: '',
};

/** Files are kept nowhere. */
export interface Files {
  readonly pictures: readonly File[];
  readonly mask: readonly File[];
}

export const operationOf = ({ operation }: ImagesForm): ImageOperation =>
  imageOperations.find((one) => one === operation) ?? 'images';

export const takesPrompt = (operation: ImageOperation): boolean => operation !== 'image_variations';

export function toCall(form: ImagesForm, files: Files, model: string, key: string | undefined): Call {
  const route = operationOf(form);
  const further = parseFurther(form.further);
  const fields = {
    model,
    ...(takesPrompt(route) ? { prompt: form.prompt } : {}),
    ...toNumbers({ n: form.n }),
    ...(form.size === '' ? {} : { size: form.size }),
    ...(form.quality === '' ? {} : { quality: form.quality }),
    ...(form.format === '' ? {} : { response_format: form.format }),
    ...(typeof further === 'string' ? {} : further),
  };
  if (route === 'images') return { route, model, body: fields, key };
  const several = files.pictures.length > 1;
  const parts: FormPart[] = [
    ...Object.entries(fields).map(([name, value]) => ({ name, value: toText(value) })),
    ...files.pictures.map((value) => ({ name: several ? 'image[]' : 'image', value })),
    ...(route === 'image_edits' ? files.mask.map((value) => ({ name: 'mask', value })) : []),
  ];
  const named = parts.map(({ name, value }) => [name, typeof value === 'string' ? value : value.name] as const);
  return { route, model, body: Object.fromEntries(named), form: parts, key };
}

const toText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

export function whatIsMissing(form: ImagesForm, files: Files): string | undefined {
  const operation = operationOf(form);
  if (form.model === '') return 'Choose a model first.';
  if (takesPrompt(operation) && form.prompt.trim() === '') return 'Say what it shall show first.';
  if (operation !== 'images' && files.pictures.length === 0) return 'Choose a picture first.';
  return typeof parseFurther(form.further) === 'string' ? 'Further fields: this is not an object yet.' : undefined;
}
