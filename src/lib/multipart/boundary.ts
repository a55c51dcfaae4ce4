/** The boundary that a content type names. */

import { readParameters } from './parameters.ts';

/** RFC 2046, 5.1.1: at most 70 of these, the last of them no space. */
const boundaryPattern = /^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/;
const mediaType = /^[ \t]*multipart\/form-data[ \t]*(?=;|$)/i;

export const isMultipart = (contentType: string | undefined): boolean => mediaType.test(contentType ?? '');

/** Undefined where it names none, two, or one that is none. */
export function boundaryOf(contentType: string): string | undefined {
  const start = mediaType.exec(contentType);
  if (start === null) return undefined;
  const boundary = readParameters(contentType.slice(start[0].length))?.get('boundary');
  return boundary !== undefined && boundaryPattern.test(boundary) ? boundary : undefined;
}
