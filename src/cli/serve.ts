/** `postern serve`: runs the gateway until it is stopped. */

import { type OpenConfiguration, openConfiguration } from '../serve/configuration.ts';
import { openStoreToServe } from '../serve/gateway.ts';
import { serveWith } from '../serve/serve.ts';
import { type Command, type CommandContext, configOptions } from './command.ts';
import { printFaults } from './faults.ts';
import { words } from './words.ts';

export const serve: Command = {
  ...words.serve,
  options: configOptions,
  run: (context) => serveWith(() => open(context), context),
};

/** Undefined where there are faults, which are printed. */
async function open(context: CommandContext): Promise<OpenConfiguration | undefined> {
  const found = await openConfiguration({ ...context, refusesUnknownVariables: true }, (url) =>
    openStoreToServe(url, context),
  );
  if (found.ok) return found;
  printFaults(found, context.stderr);
  return undefined;
}
