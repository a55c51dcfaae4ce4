/** Where the connections to an origin lead, and what the service there is called. */

import { socketHost, socketOf } from '../../lib/addresses/socket-origin.ts';
import { type Place, toPlace } from '../../wire/connect.ts';

interface Destination {
  readonly place: Place;
  /** As it stands in the head of every request. */
  readonly host: string;
}

export function toDestination(origin: string): Destination {
  const path = socketOf(origin);
  if (path === undefined) return { place: toPlace(origin), host: new URL(origin).host };
  return { place: { secure: false, host: socketHost, port: 0, path }, host: socketHost };
}
