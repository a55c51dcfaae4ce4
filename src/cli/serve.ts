/** `postern serve`: runs the gateway until it is stopped. */

import { openConfiguration } from '../serve/configuration.ts';
import { openStoreToServe } from '../serve/gateway.ts';
import { serveWith } from '../serve/serve.ts';
import { commandOf, configUsage } from './command.ts';
import { faultless } from './output.ts';

export const serve = commandOf('serve', configUsage, (context) => {
  const strict = { ...context, refusesUnknownVariables: true };
  return serveWith(
    async () => faultless(await openConfiguration(strict, (url) => openStoreToServe(url, context))),
    context,
  );
});
