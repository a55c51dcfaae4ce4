/** The pictures in an answer: those that came along, and those that lie elsewhere. */

import { type Answer, read, readList } from '../call.ts';

export interface Made {
  /** Undefined where it lies elsewhere, or is none that is shown. */
  readonly picture: Blob | undefined;
  /** Where it lies; never loaded by this page. */
  readonly url: string | undefined;
  /** What the model made of the prompt. */
  readonly revised: string | undefined;
}

const mostShown = 32;

export function toMade({ json }: Pick<Answer, 'json'>): readonly Made[] {
  return readList(json, 'data')
    .slice(0, mostShown)
    .map((item) => {
      const [base64, url, revised] = [read(item, 'b64_json'), read(item, 'url'), read(item, 'revised_prompt')];
      const inline = typeof url === 'string' ? /^data:image\/[\w.+-]+;base64,(.*)$/s.exec(url)?.[1] : undefined;
      return {
        picture: toPicture(typeof base64 === 'string' ? base64 : inline),
        url: typeof url === 'string' && /^https?:\/\//.test(url) ? url : undefined,
        revised: typeof revised === 'string' ? revised : undefined,
      };
    });
}

/** By their first bytes, as base64 has them: whatever is said of it, only what is a picture is shown as one. */
const beginnings: readonly (readonly [beginning: string, type: string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['UklGR', 'image/webp'],
  ['R0lGOD', 'image/gif'],
];

function toPicture(base64: string | undefined): Blob | undefined {
  if (base64 === undefined) return undefined;
  const type = beginnings.find(([beginning]) => base64.startsWith(beginning))?.[1];
  if (type === undefined) return undefined;
  try {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    return new Blob([bytes], { type });
  } catch {
    return undefined; // it breaks off: there is nothing to show
  }
}

export const endingOf = ({ type }: Blob): string => type.slice('image/'.length).replace('jpeg', 'jpg');
