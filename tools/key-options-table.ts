/** Generates the options of `postern keys` in docs/reference/command-line.md from the key settings. */

import { takingOptions } from '../src/cli/keys/key-options.ts';
import { keyOptions } from '../src/config/elements/key/terms.ts';

export function renderKeyOptions(): string {
  const rows = Object.values(keyOptions).map(
    ({ option, example, docs, takes }) =>
      `| \`--${option} ${example.replaceAll('|', '\\|')}\` | ${docs}${takes === 'pairs' ? '; may be repeated' : ''} |`,
  );
  const taking = takingOptions.map((option) => `\`--${option}\``).join(', ');
  return [
    '| option | means |',
    '|---|---|',
    '| `--name N` | what people call it |',
    ...rows,
    '',
    `\`keys update\` removes a value if the option is empty (\`--project ""\`, \`--limit requests_per_minute=\`). These options remove all values of their kind: ${taking}.`,
  ].join('\n');
}
