/** A strict parser of OpenMetrics 1.0. */

import assert from 'node:assert/strict';
import { type Exposition, parseExposition } from './exposition.ts';

interface Exemplar {
  /** Of the bucket, as it is written. */
  readonly sample: string;
  readonly labels: string;
  readonly value: number;
  readonly atS: number;
}

const mostExemplarCharacters = 128;
const meta = /^# (HELP|TYPE) ([a-z_][a-z0-9_]*) (.+)$/;
/** Neither a quote nor a backslash stands alone. */
const help = /^(?:[^"\\]|\\[\\"n])*$/;
const exemplarPattern = /^(\S.*) # \{([a-z_]+="[^"\\\n]*")\} (\d+(?:\.\d+)?(?:e[+-]\d+)?) (\d+\.\d+)$/;
const bound = /le="([^"]+)"\} /;
const canonicalBound = /^(?:\d+\.\d+|\+Inf)$/;

export function parseOpenMetrics(text: string): { readonly exemplars: readonly Exemplar[]; readonly said: Exposition } {
  assert.ok(text.endsWith('\n# EOF\n'), 'the end is missing');
  const exemplars: Exemplar[] = [];
  const plain: string[] = [];
  let family = '';
  let type = '';
  let below = 0;
  for (const line of text.slice(0, -'# EOF\n'.length).trimEnd().split('\n')) {
    assert.notEqual(line, '', 'an empty line');
    if (line.startsWith('#')) {
      const [, keyword, name = '', rest = ''] = meta.exec(line) ?? [];
      assert.ok(keyword !== undefined, line);
      if (keyword === 'HELP') assert.match(rest, help, line);
      if (keyword === 'TYPE') [family, type] = [name, rest];
      plain.push(line);
      continue;
    }
    const [whole, sample = line, labels = '', value = '', at = ''] = exemplarPattern.exec(line) ?? [];
    assert.equal(whole === undefined, !line.includes(' # '), `an exemplar that cannot be read: ${line}`);
    if (type === 'counter') assert.ok(line.startsWith(`${family}_total`), `${line} stands under ${family}`);
    if (type === 'histogram' && line.startsWith(`${family}_bucket`)) {
      const [, le = ''] = bound.exec(sample) ?? [];
      assert.match(le, canonicalBound, line);
      const upper = Number(le.replace('Inf', 'Infinity'));
      if (whole !== undefined) {
        assert.ok(Number(value) > below - Number.EPSILON && Number(value) <= upper, `not of this bucket: ${line}`);
        assert.ok(labels.length - '=""'.length <= mostExemplarCharacters, `too long: ${line}`);
        exemplars.push({
          sample: sample.slice(0, sample.lastIndexOf(' ')),
          labels,
          value: Number(value),
          atS: Number(at),
        });
      }
      below = upper === Number.POSITIVE_INFINITY ? 0 : upper;
    } else {
      assert.equal(whole, undefined, `only buckets have exemplars: ${line}`);
    }
    plain.push(sample);
  }
  return { exemplars, said: parseExposition(asPrometheusText(plain)) };
}

/** Removes the syntax of OpenMetrics: a counter is named like its samples. */
function asPrometheusText(lines: readonly string[]): string {
  const counters = new Set(lines.flatMap((line) => /^# TYPE (\S+) counter$/.exec(line)?.[1] ?? []));
  for (const name of counters) assert.ok(!name.endsWith('_total'), `${name} is the name of a sample`);
  const renamed = lines.map((line) =>
    line
      .replace(
        /^(# \S+ )(\S+)/,
        (_, start: string, name: string) => start + name + (counters.has(name) ? '_total' : ''),
      )
      .replace(/(le="\d+)\.0"/, '$1"'),
  );
  return `${renamed.join('\n')}\n`;
}
