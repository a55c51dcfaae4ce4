/** `postern serve`: runs the gateway until it is stopped. */

import { openConfiguration } from '../serve/configuration.ts';
import { openStoreToServe } from '../serve/gateway.ts';
import { serveWith } from '../serve/serve.ts';
import { type Command, configOptions } from './command.ts';
import { faultless } from './faults.ts';
import { words } from './words.ts';

export const serve: Command = {
  ...words.serve,
  options: configOptions,
  run(context) {
    const strict = { ...context, refusesUnknownVariables: true };
    return serveWith(
      async () => faultless(await openConfiguration(strict, (url) => openStoreToServe(url, context))),
      context,
    );
  },
};
