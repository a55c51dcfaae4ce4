/** An upstream on raw sockets that answers each path with prepared bytes: for event streams, and if nginx is missing. */

import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { listenAndReport } from './listening.ts';

/** The manifest: the path's first segment to a file that holds the whole answer, head and framing included. */
const manifest: unknown = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
if (typeof manifest !== 'object' || manifest === null) throw new Error('the manifest is no object');
const answers = new Map(Object.entries(manifest).map(([name, file]) => [name, readFileSync(String(file))]));

const notFound = Buffer.from('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n');
const endOfHead = Buffer.from('\r\n\r\n');

const server = createServer({ noDelay: true }, (socket) => {
  let held: Buffer | undefined;
  let bodyLeft = 0;
  let answer: Buffer = notFound;

  socket.on('data', (bytes: Buffer) => {
    let rest: Buffer = held === undefined ? bytes : Buffer.concat([held, bytes]);
    held = undefined;
    while (rest.length > 0) {
      if (bodyLeft === 0) {
        const end = rest.indexOf(endOfHead);
        if (end === -1) {
          held = rest;
          return;
        }
        const head = rest.toString('latin1', 0, end);
        bodyLeft = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
        answer = answers.get(head.slice(head.indexOf('/') + 1).split('/', 1)[0] ?? '') ?? notFound;
        rest = rest.subarray(end + endOfHead.length);
        if (bodyLeft === 0) socket.write(answer);
        continue;
      }
      const taken = Math.min(bodyLeft, rest.length);
      bodyLeft -= taken;
      rest = rest.subarray(taken);
      if (bodyLeft === 0) socket.write(answer);
    }
  });
  // Load clients break their connections at the end of a run.
  socket.on('error', () => socket.destroy());
});

listenAndReport(server);
