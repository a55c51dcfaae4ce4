/** Says of which item an error is by its number in the whole list, where it was said by its number in a part. */

import { GatewayError } from '../core/errors.ts';

const numbered = /\b(inputs?\[|input |documents?\[|document )(\d+)\b/g;

export function renumbered(error: unknown, placeOf: (place: number) => number): unknown {
  if (!(error instanceof GatewayError)) return error;
  const { code, message, param, headers, cause } = error;
  const inWhole = (text: string): string =>
    text.replace(numbered, (_, name: string, place: string) => name + placeOf(Number(place)));
  return new GatewayError(code, {
    message: inWhole(message),
    headers,
    ...(param !== null && { param: inWhole(param) }),
    ...(cause !== undefined && { cause: typeof cause === 'string' ? inWhole(cause) : cause }),
  });
}
