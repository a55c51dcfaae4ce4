/** A telemetry collector that accepts every export and keeps nothing. */

import { createServer } from 'node:http';
import { listenAndReport } from './listening.ts';

listenAndReport(
  createServer((request, response) => {
    request.resume();
    request.on('end', () => response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end());
  }),
);
