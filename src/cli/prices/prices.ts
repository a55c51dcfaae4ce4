/** `postern prices`: imports a price list into the store, where it replaces the previous one. */

import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { Fault } from '../../config/read/faults.ts';
import { readText } from '../../config/read/side-files.ts';
import { newFaults } from '../../config/store/resource-changes.ts';
import { toNewElement } from '../../config/store/resources.ts';
import { UserFault } from '../../core/user-fault.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import { toDollars } from '../../lib/money.ts';
import { nearHint } from '../../lib/nearest-name.ts';
import { atOnce } from '../../lib/time-slices.ts';
import { pricedByOne, readingPriceCsv, toPriceCsv } from '../../prices/imported.ts';
import { hasMaker, priceDates } from '../../prices/listed.ts';
import { createReader, type OpenResources, openResources } from '../../serve/configuration.ts';
import { actionsOf, actor } from '../actions.ts';
import type { CommandContext } from '../command.ts';
import { FaultsFound, printJson, toPrintable, toTable } from '../output.ts';
import { type PriceReading, readLitellmPrices } from './litellm-prices.ts';

const largestFileBytes = 32 * 1024 * 1024;

export const prices = actionsOf('prices', openResources, {
  import: { usage: 'import FILE [--as-of 2026-11-25] [--dry-run] [--json]', prepare: importPrices },
});

async function importPrices(context: CommandContext) {
  const { positionals, values, cwd, stdout } = context;
  const name = positionals[1] ?? '';
  const path = resolve(cwd, name);
  const content = await readText(path, largestFileBytes);
  if ('reason' in content) throw new UserFault(`${name} cannot be used: ${content.reason}`);
  const asOf = await readDay(values['as-of'], path);
  const reading = readPrices(name, content.text, context);
  if (reading.rows.length === 0) throw new UserFault(`${name} holds no price that can be used${firstReason(reading)}`);
  const document = { id: 'prices', as_of: asOf, source: toPrintable(basename(path)), csv: toPriceCsv(reading.rows) };

  return async ({ store, resources, whole }: OpenResources) => {
    const former = resources.find(({ kind, id }) => kind === 'setting' && id === 'prices');
    const element = toNewElement({ kind: 'setting', id: 'prices' }, document, {
      name,
      at: [],
      positionOf: () => undefined,
    });
    const next = await createReader(context, whole)(resources, [element]);
    const faults = newFaults(whole, next);
    if (faults.length > 0) throw new FaultsFound(faults, next.file);
    if (values['dry-run'] !== true) {
      const put = await store.resources.put('setting', 'prices', document, { expected: former?.version ?? 0, actor });
      if (put === 'conflict') throw new UserFault('someone else imported prices meanwhile; run it again');
    }
    const models = next.ok ? priceDates(next.snapshot.models.all).filter(({ source }) => source === 'imported') : [];
    const used = models.reduce((sum, one) => sum + one.models, 0);
    if (printJson(context, toJson(reading, asOf, used))) return;
    for (const line of toLines({ reading, asOf, used, isDry: values['dry-run'] === true })) stdout(line);
  };
}

/** The day of the prices, by default the file's date, because the file was fetched on that day or later. */
async function readDay(written: CommandContext['values'][string], path: string): Promise<string> {
  if (written === undefined) return (await stat(path)).mtime.toISOString().slice(0, 10);
  const time = typeof written === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(written) ? new Date(written) : undefined;
  if (time?.toJSON()?.slice(0, 10) !== written) throw new UserFault('--as-of: write a day such as 2026-11-25');
  return String(written);
}

function readPrices(name: string, text: string, { families }: CommandContext): PriceReading {
  const isService = (id: string): boolean => families.some((family) => family.id === id && hasMaker(family));
  if (!/^\ufeff?\s*[[{]/.test(text))
    return readCsv(
      name,
      text,
      isService,
      families.map(({ id }) => id),
    );
  const tree = parseJson(name, text);
  const isLitellm = isMapping(tree) && Object.values(tree).some((one) => isMapping(one) && 'litellm_provider' in one);
  if (isLitellm) return readLitellmPrices(tree, text, isService);
  throw new UserFault(
    `${name} is JSON, but not LiteLLM's model_prices_and_context_window.json: no entry has a litellm_provider; give that file, or CSV`,
  );
}

function parseJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    const at = /at position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
    const line = at === undefined ? text.split('\n').length : text.slice(0, Number(at)).split('\n').length;
    throw new UserFault(`${name}:${line}  the JSON ends or breaks off here; fetch the file again`);
  }
}

function readCsv(
  name: string,
  text: string,
  isService: (id: string) => boolean,
  familyIds: readonly string[],
): PriceReading {
  const faults: Fault[] = [];
  const report = (line: number, message: string): void => {
    faults.push({ origin: name, path: '', line, message });
  };
  const rows = atOnce(readingPriceCsv(text, report));
  for (const { service, amounts, line } of rows) {
    if (!isService(service) && !isHost(service)) report(line, serviceFault(service, familyIds, isService));
    for (const column of pricedByOne(amounts)) {
      report(line, `${column} looks like the price of one; prices here are for a million: multiply it by a million`);
    }
  }
  if (faults.length > 0)
    throw new FaultsFound(
      faults.sort((one, other) => (one.line ?? 0) - (other.line ?? 0)),
      undefined,
    );
  return { rows, leftOut: [], ignored: new Map() };
}

const isHost = (text: string): boolean =>
  (text.includes('.') || text === 'localhost') && URL.parse(`http://${text}`)?.hostname === text;

function serviceFault(service: string, familyIds: readonly string[], isService: (id: string) => boolean): string {
  const shown = JSON.stringify(toPrintable(service));
  if (familyIds.includes(service)) return `${shown} runs at your own addresses; write the host name of yours`;
  const otherwise = '; write one such as openai, or a host name such as api.example.com';
  return `${shown} is neither a family nor a host name${nearHint(service, familyIds.filter(isService), otherwise)}`;
}

const firstReason = ({ leftOut: [first] }: PriceReading): string =>
  first === undefined ? '' : `; ${toPrintable(first.name)} (line ${first.line}) was left out: ${first.why}`;

interface Report {
  readonly reading: PriceReading;
  readonly asOf: string;
  /** How many configured models use the imported prices. */
  readonly used: number;
  readonly isDry: boolean;
}

function toLines({ reading: { rows, leftOut, ignored }, asOf, used, isDry }: Report): string[] {
  const counts = [...Map.groupBy(rows, ({ service }) => service)].map(([service, { length }]) => [
    service,
    String(length),
  ]);
  return [
    `Taken: ${inCount(rows.length, 'price')}, as of ${asOf}.`,
    ...toTable(['SERVICE', 'PRICES'], counts.sort()),
    ...section(
      'Left out',
      [...Map.groupBy(leftOut, ({ why }) => why)].map(([why, found]) => [why, found.map(({ name }) => name)]),
    ),
    ...section('Not counted, as there is no such price here', [...ignored]),
    `${inCount(used, 'configured model')} ${used === 1 ? 'goes' : 'go'} by this list; a price set at a model or target takes precedence.`,
    isDry
      ? 'Nothing was written.'
      : 'It is in the store and replaces any earlier list; running gateways use it within two seconds.',
  ];
}

const mostNamed = 3;

function section(title: string, groups: readonly (readonly [string, readonly string[]])[]): string[] {
  if (groups.length === 0) return [];
  const lines = groups
    .toSorted(([, one], [, other]) => other.length - one.length)
    .map(([what, names]) => {
      const more = names.length > mostNamed ? ', ...' : '';
      return `  ${names.length}  ${toPrintable(what)} (${names.slice(0, mostNamed).map(toPrintable).join(', ')}${more})`;
    });
  return [`${title}:`, ...lines];
}

const inCount = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

function toJson({ rows, leftOut, ignored }: PriceReading, asOf: string, used: number) {
  return {
    as_of: asOf,
    taken: rows.map(({ service, model, amounts, line }) => ({
      service,
      model,
      line,
      price: Object.fromEntries(Object.entries(amounts).map(([column, nanos]) => [column, toDollars(nanos)])),
    })),
    left_out: leftOut,
    not_counted: Object.fromEntries(ignored),
    models: used,
  };
}
