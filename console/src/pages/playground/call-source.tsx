/** Shows the source of a call: the equivalent curl command, and both raw bodies. */

import { Group, Paper, Tabs, Text } from '@mantine/core';
import { memo, useMemo } from 'react';
import type { Operation } from '../../../../src/admin/contract.ts';
import { Remark } from '../../parts/layout/text.tsx';
import { CopyButton, Snippet } from '../../parts/snippets/copy.tsx';
import { toJavaScript, toPython } from '../../parts/snippets/http-code.ts';
import { formatBytes } from '../../parts/words/format.ts';
import type { Answer, Call } from './call.ts';
import { bodyFile, shorten, toCurl, toHttpCall, toPath } from './call-text.ts';
import { usePlaygroundModels } from './model-choice.tsx';

interface CallSourceProps {
  readonly operation: Operation;
  readonly call: Call;
  readonly answer: Answer | undefined;
}

/** Rendered again only for a new call: bodies may have megabytes, and the page renders for each piece of a streamed answer. */
export const CallSource = memo(function CallSource({ operation, call, answer }: CallSourceProps) {
  const { data } = usePlaygroundModels(operation);
  const curl = toCurl({ baseUrl: data?.clientUrl ?? '', ...call });
  const http = toHttpCall(call, data?.clientUrl ?? '');
  return (
    <Paper withBorder p="sm" component="section" aria-label="The call as text">
      <Tabs defaultValue="curl" keepMounted={false} variant="default">
        <Tabs.List mb="sm" className="play-tabs">
          <Tabs.Tab value="curl">curl</Tabs.Tab>
          <Tabs.Tab value="python">Python</Tabs.Tab>
          <Tabs.Tab value="javascript">JavaScript</Tabs.Tab>
          <Tabs.Tab value="request">Request</Tabs.Tab>
          <Tabs.Tab value="answer" disabled={answer === undefined}>
            Answer
          </Tabs.Tab>
          <Tabs.Tab value="headers" disabled={answer === undefined}>
            Headers
          </Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="curl">
          <Snippet code={curl} language="Shell" label="Copy the curl command" />
          <Remark mt={6}>
            Put a key into <code>POSTERN_KEY</code> first; the keys page makes one.
            {curl.endsWith(`'${bodyFile}'`) && ' The body is long: copy it from "Request" into the file body.json.'}
          </Remark>
        </Tabs.Panel>
        <Tabs.Panel value="python">
          <Snippet code={toPython(http)} language="Python" label="Copy the Python code" />
        </Tabs.Panel>
        <Tabs.Panel value="javascript">
          <Snippet code={toJavaScript(http)} language="JavaScript" label="Copy the JavaScript code" />
        </Tabs.Panel>
        <Tabs.Panel value="request">
          <Json
            value={call.body}
            title={`POST ${toPath(call.route, call.model)}${call.form === undefined ? '' : ', as a form'}`}
            label="Copy the request"
          />
        </Tabs.Panel>
        <Tabs.Panel value="answer">{answer !== undefined && <AnswerText answer={answer} />}</Tabs.Panel>
        <Tabs.Panel value="headers">{answer !== undefined && <Headers answer={answer} />}</Tabs.Panel>
      </Tabs>
    </Paper>
  );
});

function AnswerText({ answer: { json, text, bytes, isStream, sound } }: { readonly answer: Answer }) {
  if (sound !== undefined)
    return <Text size="sm">{`${formatBytes(bytes)} of ${sound.type}; it is played above.`}</Text>;
  if (isStream)
    return <Snippet code={cut(text)} language={`Stream, ${formatBytes(bytes)}`} label="Copy what is shown" />;
  if (json === undefined) return <Snippet code={cut(text)} language={formatBytes(bytes)} label="Copy what is shown" />;
  return <Json value={json} whole={text} title={formatBytes(bytes)} label="Copy the whole answer" />;
}

const mostShown = 20_000;
const cut = (text: string): string =>
  text.length <= mostShown ? text : `${text.slice(0, mostShown)}\n… ${text.length - mostShown} more characters`;

interface JsonProps {
  readonly value: unknown;
  readonly title: string;
  readonly label: string;
  /** The text to copy, if it differs from the one shown. */
  readonly whole?: string;
}

/** Shows JSON. Long vectors are cut; copying takes them whole. */
function Json({ value, title, label, whole }: JsonProps) {
  const { text, isShortened } = useMemo(() => shorten(value), [value]);
  if (!isShortened && whole === undefined) return <Snippet code={text} language={title} label={label} />;
  return (
    <div>
      <Group justify="space-between" mb={4}>
        <Remark>
          {title}
          {isShortened ? '; long parts are shown by their beginning' : ''}
        </Remark>
        <CopyButton text={whole ?? JSON.stringify(value, null, 2)} label={label} />
      </Group>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard */}
      <pre className="snippet snippet-code play-tall" tabIndex={0}>
        <code>{text}</code>
      </pre>
    </div>
  );
}

function Headers({ answer: { headers, status } }: { readonly answer: Answer }) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <Snippet
      code={lines.join('\n')}
      language={`Status ${status}; what the playground passes on`}
      label="Copy the headers"
    />
  );
}
