/** Writes a configuration file of a given size: models, keys, and upstreams per model. */

export interface Growth {
  readonly name: string;
  readonly models: number;
  /** Keys that the file declares. */
  readonly fileKeys: number;
  /** Keys of the store. */
  readonly storedKeys: number;
  /** Targets of each model, on an upstream each. */
  readonly pool: number;
}

const upstreams = 16;

export const keySecret = (where: 'file' | 'stored', index: number): string =>
  `bench-${where}-key-${String(index).padStart(12, '0')}`;

export function toGrowthFile(growth: Growth, origin: string, format: 'yaml' | 'json'): string {
  const configuration = toConfiguration(growth, origin);
  return format === 'json' ? `${JSON.stringify(configuration, undefined, 1)}\n` : toYaml(configuration);
}

function toConfiguration({ models, fileKeys, pool }: Growth, origin: string) {
  const targets = (at: number) =>
    Array.from({ length: pool }, (_, index) => ({ upstream: `upstream-${(at + index) % Math.max(pool, upstreams)}` }));
  return {
    server: { port: 0 },
    console: { port: 0 },
    store: 'sqlite:postern.db',
    upstreams: Array.from({ length: Math.max(pool, upstreams) }, (_, index) => ({
      id: `upstream-${index}`,
      family: 'openai',
      base_url: `${origin}/v1`,
      api_key: `sk-Qz7xVw3kJp9mHt2cRb6nXy8dFg4sLe5vTu1aWo0iKj7h${String(index).padStart(4, '0')}`,
    })),
    models: Array.from({ length: models }, (_, index) => ({
      id: `model-${index}`,
      operations: ['embeddings'],
      targets: targets(index),
    })),
    keys: Array.from({ length: fileKeys }, (_, index) => ({
      id: `key-${index}`,
      secret: keySecret('file', index),
      models: ['*'],
    })),
  };
}

/** As people write it: lists in lines, and an element's keys below each other. */
function toYaml(value: unknown, indent = ''): string {
  if (typeof value !== 'object' || value === null) return `${JSON.stringify(value)}\n`;
  const entries = Object.entries(value);
  if (entries.length === 0) return Array.isArray(value) ? '[]\n' : '{}\n';
  return entries
    .map(([key, inner], index) => {
      const isNested = typeof inner === 'object' && inner !== null;
      if (Array.isArray(value)) return `${indent}- ${toYaml(inner, `${indent}  `).trimStart()}`;
      const text = toYaml(inner, `${indent}  `);
      return `${index >= 0 ? indent : ''}${key}:${isNested ? `\n${text}` : ` ${text}`}`;
    })
    .join('');
}
