/** Tools as people paste them, in the form of any of the wires. */

import { read } from '../call.ts';
import type { Tool } from './talk.ts';

/** A sentence where it cannot be read. */
export function parseTools(text: string): readonly Tool[] | string {
  if (text.trim() === '') return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'This is not JSON yet.';
  }
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const tools = list.map(toTool);
  const broken = tools.indexOf(undefined);
  return broken === -1
    ? tools.filter((tool) => tool !== undefined)
    : `Tool ${broken + 1} has neither a name nor a type of its own.`;
}

function toTool(value: unknown): Tool | undefined {
  const source = read(value, 'function') ?? value;
  const [name, type] = [read(source, 'name'), read(value, 'type')];
  const isFunction = type === undefined || type === 'function' || type === 'custom';
  const hasSchema = read(value, 'input_schema') !== undefined;
  if (typeof type === 'string' && !isFunction && !hasSchema) return { hosted: value };
  if (typeof name !== 'string' || name === '') return undefined;
  const description = read(source, 'description');
  return {
    function: {
      name,
      description: typeof description === 'string' ? description : undefined,
      parameters: read(source, 'parameters') ?? read(source, 'input_schema'),
    },
  };
}

export const sampleTools = JSON.stringify(
  [
    {
      name: 'get_weather',
      description: 'Says how the weather is in a city.',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  ],
  null,
  2,
);
