/** Decides the lane of a request: where an upstream is busy, interactive calls go first and bulk calls use what is left. */

import { GatewayError } from './errors.ts';

export const lanes = ['interactive', 'bulk'] as const;
export type Lane = (typeof lanes)[number];

export const laneHeader = 'x-postern-lane';

interface HasLane {
  readonly lane?: Lane | undefined;
}

export function readLane(value: string | undefined): Lane | undefined {
  if (value === undefined) return undefined;
  const lane = lanes.find((one) => one === value.trim().toLowerCase());
  if (lane !== undefined) return lane;
  throw new GatewayError('unsupported_parameter', {
    param: laneHeader,
    message: `The header ${laneHeader} is "interactive" or "bulk"; leave it out for the lane that the operator set.`,
  });
}

/** The lane of a request. Every request may choose bulk; it may choose interactive only where its key is configured as interactive. */
export function laneOf(asked: Lane | undefined, key: HasLane, model: HasLane, route?: HasLane): Lane {
  if (asked === 'bulk') return 'bulk';
  if (asked === 'interactive' && key.lane === 'interactive') return 'interactive';
  return key.lane === 'bulk' || model.lane === 'bulk' || route?.lane === 'bulk' ? 'bulk' : 'interactive';
}
