/** Lists the chat APIs of the playground, in the order in which they are offered. */

import type { Operation } from '../../../../../../src/admin/contract.ts';
import type { Wire } from '../talk.ts';
import { chatWire } from './chat.ts';
import { messagesWire } from './messages.ts';
import { responsesWire } from './responses.ts';

const rows = { chat: chatWire, responses: responsesWire, messages: messagesWire } as const satisfies Partial<
  Record<Operation, Wire>
>;

export type WireName = keyof typeof rows;

export const wires: Readonly<Record<WireName, Wire>> = rows;
export const wireNames = Object.keys(rows) as readonly WireName[];

/** The wanted API if the model has it, else the model's first. */
export function chooseWire(offered: readonly Operation[] | undefined, wanted: string): WireName {
  const open = wireNames.filter((name) => offered === undefined || offered.includes(name));
  return open.find((name) => name === wanted) ?? open[0] ?? 'chat';
}
