/** Buttons for a request: previous and next, run again, copy as code. */

import { Button, Group, Menu } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { bodyOf, canBeShown, type LedgerDetail, operationRows, pathOf } from '../../../../src/admin/contract.ts';
import { ask } from '../api/client.ts';
import { Action, IconButton } from '../layout/button.tsx';
import { Remark } from '../layout/text.tsx';
import { Icon } from '../marks/icon.tsx';
import { CopyButton, Snippet } from '../snippets/copy.tsx';
import { toBodyText, toCurlLine } from '../snippets/curl-line.ts';
import { toJavaScript, toPython } from '../snippets/http-code.ts';
import { toShared } from '../snippets/share.ts';

interface NeighboursProps {
  /** IDs of the rows on the page, in their order. */
  readonly ids: readonly string[];
  readonly id: string;
  onOpen(id: string): void;
}

/** Buttons to the previous and the next request, which the keys `j` and `k` press. */
export function Neighbours({ ids, id, onOpen }: NeighboursProps) {
  const at = ids.indexOf(id);
  const [before, after] = [ids[at - 1], at === -1 ? undefined : ids[at + 1]];
  return (
    <Group gap={4} wrap="nowrap">
      <IconButton
        icon="up"
        label="Previous request"
        title="Previous request (k)"
        data-step="-1"
        disabled={before === undefined}
        onClick={() => before !== undefined && onOpen(before)}
      />
      <IconButton
        icon="down"
        label="Next request"
        title="Next request (j)"
        data-step="1"
        disabled={after === undefined}
        onClick={() => after !== undefined && onOpen(after)}
      />
    </Group>
  );
}

type Language = 'curl' | 'Python' | 'JavaScript';
const languages: readonly Language[] = ['curl', 'Python', 'JavaScript'];

interface RequestActionsProps {
  readonly row: LedgerDetail;
  /** The body as sent, if it was captured and loaded. */
  readonly body: unknown;
}

export function RequestActions({ row: { operation, model }, body }: RequestActionsProps) {
  const [language, setLanguage] = useState<Language>();
  const { data: about } = useQuery({ queryKey: ['about'], queryFn: ({ signal }) => ask('GET /api/about', { signal }) });
  if (model === null || !canBeShown(operation) || operationRows[operation].form !== undefined) return null;
  const sent = body ?? bodyOf(operation, model, operationRows[operation].trial);
  const call = { baseUrl: about?.clientUrl ?? '', path: pathOf(operation, model), body: sent };
  const again =
    body === undefined
      ? undefined
      : toShared('count_tokens', { operation, model, body: JSON.stringify(body, null, 2) });
  const code = language === undefined ? '' : toCode(language, call);
  return (
    <>
      <Group gap="xs">
        <Button
          component={Link}
          href={again ?? `/playground/${operation}?model=${encodeURIComponent(model)}`}
          variant="default"
          size="xs"
          leftSection={<Icon name="play" size={14} />}
        >
          Run again
        </Button>
        <Menu position="bottom-start" withinPortal>
          <Menu.Target>
            <Action icon="code" label="Copy as" size="xs" />
          </Menu.Target>
          <Menu.Dropdown>
            {languages.map((one) => (
              <Menu.Item key={one} onClick={() => setLanguage(one)}>
                {one}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
        {language !== undefined && <CopyButton text={code} label={`Copy the ${language} code`} />}
      </Group>
      {language !== undefined && <Snippet code={code} language={language} label={`Copy the ${language} code`} />}
      {language !== undefined && body === undefined && (
        <Remark>The body is a sample: that of the request is not kept, or was not asked for below.</Remark>
      )}
    </>
  );
}

function toCode(language: Language, call: { readonly baseUrl: string; readonly path: string; readonly body: unknown }) {
  switch (language) {
    case 'curl':
      return toCurlLine({ ...call, body: toBodyText(call.body) });
    case 'Python':
      return toPython(call);
    case 'JavaScript':
      return toJavaScript(call);
  }
}
