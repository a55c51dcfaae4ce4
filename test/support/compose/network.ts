/** A network of Linux namespaces with a DNS server, like one of Docker's. */

import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

export interface Network {
  /** The address of the DNS server. */
  readonly nameServer: string;
  /** Makes a namespace with this name, and returns its own name and address. */
  join(name: string): { readonly namespace: string; readonly address: string };
  /** Once nothing runs in it any more. */
  close(): void;
}

const ip = (...args: readonly string[]): void => void execFileSync('ip', args, { stdio: 'pipe' });

export async function startNetwork(): Promise<Network> {
  const { pid } = process;
  const bridge = `pb${pid}`;
  const prefix = `10.${100 + (pid % 100)}.${Math.floor(pid / 100) % 250}`;
  const nameServer = `${prefix}.1`;
  const addresses = new Map<string, string>();
  const namespaces: string[] = [];

  ip('link', 'add', bridge, 'type', 'bridge');
  ip('addr', 'add', `${nameServer}/24`, 'dev', bridge);
  ip('link', 'set', bridge, 'up');

  const names = createSocket('udp4', (question, from) => {
    names.send(answerTo(question, addresses), from.port, from.address);
  });
  names.bind(53, nameServer);
  await once(names, 'listening');

  return {
    nameServer,
    close() {
      names.close();
      for (const namespace of namespaces) ip('netns', 'del', namespace);
      ip('link', 'del', bridge);
    },
    join(name) {
      const number = addresses.size + 2;
      const address = `${prefix}.${number}`;
      const namespace = `postern-${pid}-${number}`;
      const outside = `pv${pid}-${number}`;
      ip('netns', 'add', namespace);
      namespaces.push(namespace);
      addresses.set(name, address);
      ip('link', 'add', outside, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace);
      ip('link', 'set', outside, 'master', bridge, 'up');
      ip('-n', namespace, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
      ip('-n', namespace, 'link', 'set', 'eth0', 'up');
      ip('-n', namespace, 'link', 'set', 'lo', 'up');
      return { namespace, address };
    },
  };
}

const typeA = 1;

/** One question; IPv4 alone is known of a name. */
function answerTo(question: Buffer, addresses: ReadonlyMap<string, string>): Buffer {
  const labels: string[] = [];
  let at = 12;
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = question.readUInt16BE(at + 1);
  const address = addresses.get(labels.join('.').toLowerCase());
  const isAnswered = address !== undefined && type === typeA;
  const head = Buffer.alloc(12);
  question.copy(head, 0, 0, 2);
  const nameIsUnknown = 3;
  head.writeUInt16BE(0x8580 + (address === undefined ? nameIsUnknown : 0), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(isAnswered ? 1 : 0, 6);
  const asked = question.subarray(12, at + 5);
  if (!isAnswered) return Buffer.concat([head, asked]);
  const record = Buffer.from([0xc0, 12, 0, typeA, 0, 1, 0, 0, 0, 1, 0, 4, ...address.split('.').map(Number)]);
  return Buffer.concat([head, asked, record]);
}
