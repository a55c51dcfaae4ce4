/** Shows whether models have changed (canaries), and how far they agree with their shadows. */

import { Badge, Group, Paper, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import type { Now } from '../../../../src/admin/contract.ts';
import { Remark } from '../../parts/layout/text.tsx';
import { formatCount } from '../../parts/words/format.ts';
import { useNow } from './overview-data.ts';

type Agreement = Now['agreements'][number];

/** Shows the agreement; nothing if no model has a shadow or canaries. */
export function Agreements() {
  const { data } = useNow();
  const { agreements = [] } = data ?? {};
  if (agreements.length === 0) return null;
  return (
    <Paper withBorder p="sm" component="section" aria-labelledby="agreements" className="upstreams">
      <Title order={2} size="h5" id="agreements" mb="xs">
        Drift and shadow traffic
      </Title>
      <ul className="upstream-list">
        {agreements.map((one) => (
          <li key={`${one.kind} ${one.model} ${one.with}`}>
            <AgreementLine agreement={one} />
          </li>
        ))}
      </ul>
    </Paper>
  );
}

function AgreementLine({ agreement }: { readonly agreement: Agreement }) {
  const { model, hasChanged, value } = agreement;
  return (
    <Group justify="space-between" wrap="nowrap" gap="sm" py={6}>
      <div>
        <Text size="sm" fw={600} className="breaks">
          <Link href={`/models/${encodeURIComponent(model)}`} className="plain-link">
            {model}
          </Link>
        </Text>
        <Remark className="breaks">{wordsOf(agreement)}</Remark>
      </div>
      {hasChanged ? (
        <Badge color="red" variant="light" miw="max-content">
          Changed
        </Badge>
      ) : (
        <Text size="sm" className="numeric">
          {value === null ? '–' : value.toFixed(3)}
        </Text>
      )}
    </Group>
  );
}

const measureWords = {
  cosine: 'cosine similarity',
  ranks: 'the order of documents',
  verdicts: 'verdicts',
  overlap: 'nearest neighbours',
} as const;

function wordsOf({ kind, with: other, measure, compared }: Agreement): string {
  if (kind === 'canary') return `Canary texts at ${other}, against the reference`;
  if (measure === null) return `Shadow ${other}: nothing is compared yet`;
  return `Shadow ${other}: ${measureWords[measure]} over ${formatCount(compared)} requests`;
}
