/** `postern check`: reports all faults of a configuration, or else the plan that results from it. */

import { loadConfiguration } from '../../config/load.ts';
import { fromHere } from '../../config/read/include.ts';
import { commandOf, configUsage } from '../command.ts';
import { printFaults, toTable } from '../output.ts';
import { type Plan, toPlan } from './plan.ts';

export const check = commandOf('check', `${configUsage} --brief --json`, async (context) => {
  const { values, cwd, stdout } = context;
  const loaded = await loadConfiguration({ ...context, refusesUnknownVariables: true });
  const { ok } = loaded;
  const file = loaded.file && fromHere(loaded.file, cwd);
  if (values.json === true) {
    const found = ok ? { set_outside: loaded.setOutside, ...toPlan(loaded) } : { faults: loaded.faults };
    stdout(JSON.stringify({ ok, file: file ?? null, ...found }, null, 2));
  } else if (loaded.ok) {
    stdout(
      file === undefined
        ? 'There is no configuration file; the built-in configuration is in force.'
        : `${file} is valid.`,
    );
    if (loaded.setOutside.length > 0) stdout(`Set outside of it: ${loaded.setOutside.join(', ')}.`);
    const plan = toPlan(loaded);
    for (const line of values.brief === true ? toBriefLines(plan) : toLines(plan)) stdout(line);
  } else {
    printFaults({ file, faults: loaded.faults }, stdout);
  }
  return ok ? 0 : 1;
});

function toLines(plan: Plan): string[] {
  const { server, ledger, log, console, alerts, upstreams, models, keys, default_model } = plan;
  const { timeouts, drain, shedding, redis, ...single } = server;
  const settings = [
    ...Object.entries(single).map(([name, value]) => [name, value ?? 'a tenth of max_connections, above 80 % of it']),
    ...Object.entries(timeouts).map(([name, value]) => [`timeouts.${name}`, value]),
    ...Object.entries(drain).map(([name, value]) => [`drain.${name}`, value]),
    ...Object.entries(shedding).map(([name, value]) => [`shedding.${name}`, value]),
    ...(redis === null ? [] : [['redis', redis]]),
    ...Object.entries(ledger).map(([name, value]) => [`ledger.${name}`, value ?? 'none']),
    ...Object.entries(log).map(([name, value]) => [`log.${name}`, value ?? 'standard output']),
    ['console', `${console.address}${console.token ? ', with a token' : ''}`],
    ...alerts.webhooks.map(({ host, signed }) => ['alerts.webhooks', `${host}${signed ? ', signed' : ''}`]),
    ...Object.entries(default_model).map(([operation, model]) => [`default_model.${operation}`, model]),
  ];
  return [
    ...section(
      ['Setting', 'Value'],
      settings.map((row) => row.map(String)),
    ),
    ...section(
      ['Upstream', 'Family', 'Base URL', 'Credentials', 'Connect', 'First byte', 'Idle', 'Total'],
      upstreams.map(({ id, family, base_url, credentials, timeouts: { connect, first_byte, idle, total } }) =>
        // Without an address there is no timeout.
        [
          id,
          family,
          base_url ?? '-',
          inNumbers(credentials),
          ...(base_url === null ? [] : [connect, first_byte, idle, total]),
        ],
      ),
    ),
    ...section(
      ['Upstream', 'Options', 'Concurrency', 'Queue', 'Queue timeout', 'TLS', 'Health check'],
      upstreams.map(
        ({
          id,
          options,
          limits: { concurrency, min_concurrency: least, queue, queue_timeout },
          tls,
          health_check: health,
        }) => [
          id,
          inWords(Object.entries(options).map(([name, value]) => `${name} ${value}`)),
          least === undefined ? String(concurrency) : `auto, ${least} to ${concurrency}`,
          String(queue),
          queue_timeout,
          inWords(Object.entries(tls ?? {}).flatMap(([part, value]) => (value ? [part] : []))),
          health === null ? '-' : `${health.path} every ${health.interval}, within ${health.timeout}`,
        ],
      ),
    ),
    ...section(
      ['Upstream', 'Endpoints', 'Preferred'],
      upstreams.flatMap(({ id, endpoints, endpoint_zone: zone }) => {
        // Omitted where it is the default.
        if (endpoints === null || (endpoints === 'private dns' && zone.length === 0)) return [];
        const from = endpoints === 'private dns' ? 'dns, of private addresses' : endpoints;
        return [[id, typeof from === 'string' ? from : inWords(from), inWords(zone)]];
      }),
    ),
    ...section(
      ['Upstream', 'Screen', 'Not looked for in successes'],
      upstreams.flatMap(({ id, screen, not_screened: not }) =>
        screen === 'all' && not.length === 0 ? [] : [[id, screen, screen === 'all' ? inWords(not) : 'anything']],
      ),
    ),
    ...section(
      ['Model', 'Aliases', 'Operations', 'Visible', 'Space', 'Scores', 'Shape', 'Balance', 'Retry', 'Hedge', 'Targets'],
      models.map((model) => [
        model.id,
        inWords(model.aliases),
        inWords(model.operations),
        model.visible ? 'yes' : 'no',
        model.space ?? '-',
        model.scores ?? '-',
        model.shape ?? '-',
        model.balance,
        toRetryText(model.retry),
        model.hedge === null ? '-' : `after ${model.hedge.after}`,
        inWords(model.targets.map(toTargetText)),
      ]),
    ),
    ...section(
      ['Lists of', 'Cache', 'Equal items', 'Joined', 'In one call'],
      models.flatMap(({ id, lists }) => toListRow(id, lists)),
    ),
    ...section(
      ['Route', 'Goes to', 'Model from', 'Label'],
      plan.routes.map(({ method, path, to, model, label }) => [`${method} ${path}`, to, model, label]),
    ),
    ...section(
      ['Key', 'Models', 'Operations', 'Addresses', 'Expires', 'Project', 'Shape', 'Capture'],
      keys.map((key) => [
        key.id,
        inWords(key.models),
        inWords(key.operations ?? ['all']),
        inWords(key.addresses ?? ['any']),
        key.expires ?? 'never',
        key.project ?? '-',
        key.shape ?? '-',
        key.capture ?? '-',
      ]),
    ),
    ...section(
      ['Project', 'Name'],
      plan.projects.map(({ id, name }) => [id, name ?? '-']),
    ),
    ...section(['Limits of', 'Limits', 'Budgets'], toCapsRows(plan)),
    ...section(
      ['Price of', 'Upstream', 'Model', 'US dollars', 'Source'],
      models.flatMap(({ id, targets }) =>
        targets.map(({ upstream, model, price }) => [id, upstream, model, toPriceText(price), price?.source ?? '-']),
      ),
    ),
    ...toRemarks(plan),
  ];
}

/** A short report: the number of elements of each kind, and the warnings. */
function toBriefLines(plan: Plan): string[] {
  const { upstreams, models, keys, projects, routes } = plan;
  const counts = Object.entries({ upstreams, models, keys, projects, routes })
    .filter(([name, list]) => list.length > 0 || name === 'models')
    .map(([name, { length }]) => `${length} ${length === 1 ? name.slice(0, -1) : name}`);
  return [`It has ${counts.join(', ')}.`, ...toRemarks(plan)];
}

/** Width of tables: that of a usual terminal, or of a log in a browser. Faults and warnings are longer lines, for scripts. */
const mostColumns = 120;

function toRemarks({ notes, warnings }: Plan): string[] {
  const remarks = [...notes.map((note) => `note: ${note}`), ...warnings.map((warning) => `warning: ${warning}`)];
  return remarks.length === 0 ? [] : ['', ...remarks];
}

function toCapsRows({ keys, projects, models, upstreams }: Plan): string[][] {
  const holders = [
    ...keys.map((key) => ({ ...key, kind: 'key' })),
    ...projects.map((project) => ({ ...project, kind: 'project' })),
    ...models.map((model) => ({ ...model, kind: 'model' })),
    ...upstreams.map(
      ({
        limits: { concurrency: _, min_concurrency: __, queue: ___, queue_timeout: ____, ...limits },
        ...upstream
      }) => ({
        ...upstream,
        limits,
        kind: 'upstream',
      }),
    ),
  ];
  return holders.flatMap(({ kind, id, limits, budgets }) => {
    const rates = Object.entries(limits).map(([name, value]) => `${name} ${value}`);
    const amounts = budgets.map(({ every, amount, alerts }) => {
      const when = alerts.length === 0 ? '' : ` (alerts ${alerts.join(', ')})`;
      return `${amount} ${every === 'total' ? 'in all' : `a ${every}`}${when}`;
    });
    return rates.length + amounts.length === 0 ? [] : [[`${kind} ${id}`, inWords(rates), inWords(amounts)]];
  });
}

function toPriceText(price: Plan['models'][number]['targets'][number]['price']): string {
  if (price === null) return 'unknown';
  if ('free' in price) return 'free';
  const { source: _, ...amounts } = price;
  return inWords(Object.entries(amounts).map(([name, amount]) => `${name} ${amount}`));
}

/** The number of credentials, with their weights where these differ. */
function inNumbers(credentials: Plan['upstreams'][number]['credentials']): string {
  const weights = credentials.map(({ weight }) => weight);
  return `${weights.length}${new Set(weights).size > 1 ? ` (weights ${weights.join(', ')})` : ''}`;
}

function toRetryText({ scope, attempts, sameTarget }: Plan['models'][number]['retry']): string {
  const again = sameTarget === undefined ? '' : `, ${sameTarget} at the same target`;
  return `${scope}, ${attempts} attempts${again}`;
}

function toTargetText({
  upstream,
  model,
  bridge,
  priority,
  weight,
}: Plan['models'][number]['targets'][number]): string {
  const unusual = [
    ...(bridge === null ? [] : [`bridge ${bridge}`]),
    ...(priority === 0 ? [] : [`priority ${priority}`]),
    ...(weight === 1 ? [] : [`weight ${weight}`]),
  ];
  return `${upstream}: ${model}${unusual.length === 0 ? '' : ` (${unusual.join(', ')})`}`;
}

const inWords = (items: readonly string[]): string => items.join(', ') || '-';

function section(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return rows.length === 0 ? [] : ['', ...toTable(head, rows, mostColumns)];
}

/** The table row with a model's list settings; no row where none is configured. */
function toListRow(id: string, { cache, dedupe, coalesce, maxima }: Plan['models'][number]['lists']): string[][] {
  if (cache === null && !dedupe && coalesce === null && maxima.length === 0) return [];
  const most = maxima.map(({ upstream, operation, items, tokens, bytes }) => {
    const parts = [items && `${items} items`, tokens && `${tokens} tokens`, bytes].filter((part) => part !== null);
    return `${upstream}: ${parts.join(', ')} (${operation})`;
  });
  return [
    [
      id,
      cache === null ? '-' : `${cache.ttl}, ${cache.scope}, ${cache.max}`,
      dedupe || cache !== null ? 'once' : '-',
      coalesce === null ? '-' : `${coalesce.window}, ${coalesce.max_items} items`,
      inWords(most),
    ],
  ];
}
