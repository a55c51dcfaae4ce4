/** Playground tab for images: generates, edits or varies them, with one model or two side by side. */

import './images.css';
import { Anchor, Group, SimpleGrid, Text } from '@mantine/core';
import { useMemo } from 'react';
import { Remark } from '../../../parts/layout/text.tsx';
import { formatBytes } from '../../../parts/words/format.ts';
import { type Answer, read, readList } from '../call.ts';
import { furtherFields } from '../fields.tsx';
import { SaveLink } from '../files.tsx';
import { useObjectUrl } from '../hooks.ts';
import { type OperationSpec, OperationTab, type TabProps } from '../operation-tab.tsx';

const pictures = {
  name: 'pictures',
  kind: 'files',
  description: 'PNG, JPEG or WebP; choose, or drop here',
  accept: 'image/png,image/jpeg,image/webp',
  sentAs: 'image',
  needed: 'Choose a picture first.',
} as const;

const spec: OperationSpec = {
  draft: 'images',
  operations: ['images', 'image_edits', 'image_variations'],
  isPair: true,
  examples: [
    {
      title: 'Make one',
      values: { operation: 'images', prompt: 'A small wooden gate in an old castle wall, ink drawing' },
    },
    { title: 'Change one', values: { operation: 'image_edits', prompt: 'Make it a night scene, with a lantern' } },
  ],
  fields: [
    {
      name: 'prompt',
      kind: 'text',
      label: 'Prompt',
      description: 'What the picture shall show',
      rows: [3, 12],
      sentAs: 'prompt',
      needed: 'Say what it shall show first.',
      isShown: ({ operation }) => operation !== 'image_variations',
    },
    {
      ...pictures,
      label: 'Pictures to work from',
      most: 16,
      isShown: ({ operation }) => operation === 'image_edits',
    },
    { ...pictures, label: 'Picture to vary', isShown: ({ operation }) => operation === 'image_variations' },
    {
      name: 'mask',
      kind: 'files',
      label: 'Mask',
      description: 'A PNG, see-through where it may change; none is needed',
      accept: 'image/png',
      sentAs: 'mask',
      isShown: ({ operation }) => operation === 'image_edits',
    },
  ],
  options: [
    { name: 'n', kind: 'number', label: 'n', description: 'How many', range: { min: 1, max: 10 } },
    {
      name: 'size',
      kind: 'suggest',
      label: 'size',
      description: 'Width and height',
      choices: ['auto', '1024x1024', '1536x1024', '1024x1536', '512x512', '256x256'],
    },
    {
      name: 'quality',
      kind: 'suggest',
      label: 'quality',
      description: "By the model's own words",
      choices: ['auto', 'low', 'medium', 'high', 'standard', 'hd'],
    },
    {
      name: 'format',
      kind: 'choice',
      label: 'response_format',
      description: 'How the picture comes',
      choices: [
        { value: 'b64_json', label: 'b64_json: the picture itself' },
        { value: 'url', label: 'url: where it lies' },
      ],
    },
    furtherFields('{"background": "transparent"}'),
  ],
  runLabel: 'Make',
  nothingYet: ['eye', 'The pictures stand here, to be looked at and saved.'],
};

export default function ImagesTab(props: TabProps) {
  return <OperationTab {...props} spec={spec} render={(answer) => <Gallery answer={answer} />} />;
}

function Gallery({ answer }: { readonly answer: Answer }) {
  const made = useMemo(() => toMade(answer), [answer]);
  if (made.length === 0) return <Text size="sm">The answer holds no pictures.</Text>;
  const name = answer.call.model.replace(/[^\w.-]+/g, '-');
  return (
    <SimpleGrid cols={{ base: 1, xs: made.length > 1 ? 2 : 1 }} spacing="sm">
      {made.map((one, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a picture is identified by its position
        <Shown key={index} made={one} number={index + 1} name={`${name}-${index + 1}`} />
      ))}
    </SimpleGrid>
  );
}

interface ShownProps {
  readonly made: Made;
  readonly number: number;
  /** The file name without its extension. */
  readonly name: string;
}

function Shown({ made: { picture, url, revised }, number, name }: ShownProps) {
  const address = useObjectUrl(picture);
  return (
    <figure className="image-shown">
      {address !== undefined && <img src={address} alt={revised ?? `Number ${number} of what was made`} />}
      <figcaption>
        {picture !== undefined && address !== undefined && (
          <Group justify="space-between" gap="xs">
            <Remark>
              {picture.type}, {formatBytes(picture.size)}
            </Remark>
            <SaveLink url={address} name={`${name}.${endingOf(picture)}`} />
          </Group>
        )}
        {picture === undefined && url !== undefined && (
          <Text size="sm" className="play-wrap">
            It lies elsewhere; the console loads nothing from there.{' '}
            <Anchor href={url} target="_blank" rel="noopener noreferrer" inherit underline="always">
              Open picture {number} in a new tab
            </Anchor>
          </Text>
        )}
        {picture === undefined && url === undefined && <Text size="sm">Picture {number} cannot be shown.</Text>}
        {revised !== undefined && <Remark className="play-wrap">Made from: {revised}</Remark>}
      </figcaption>
    </figure>
  );
}

interface Made {
  /** The image's data; undefined if the answer has a URL instead, or a type that is not shown. */
  readonly picture: Blob | undefined;
  /** The image's URL, which this page never loads. */
  readonly url: string | undefined;
  /** The prompt as the model rewrote it. */
  readonly revised: string | undefined;
}

const mostShown = 32;

const toMade = ({ json }: Pick<Answer, 'json'>): readonly Made[] =>
  readList(json, 'data')
    .slice(0, mostShown)
    .map((item) => {
      const [base64, url, revised] = [read(item, 'b64_json'), read(item, 'url'), read(item, 'revised_prompt')];
      const inline = typeof url === 'string' ? /^data:image\/[\w.+-]+;base64,(.*)$/s.exec(url)?.[1] : undefined;
      return {
        picture: toPicture(typeof base64 === 'string' ? base64 : inline),
        url: typeof url === 'string' && /^https?:\/\//.test(url) ? url : undefined,
        revised: typeof revised === 'string' ? revised : undefined,
      };
    });

/** Image types by the first bytes in base64: only an image is shown as one, whatever type is declared. */
const beginnings: readonly (readonly [beginning: string, type: string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['UklGR', 'image/webp'],
  ['R0lGOD', 'image/gif'],
];

function toPicture(base64: string | undefined): Blob | undefined {
  if (base64 === undefined) return undefined;
  const type = beginnings.find(([beginning]) => base64.startsWith(beginning))?.[1];
  if (type === undefined) return undefined;
  try {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    return new Blob([bytes], { type });
  } catch {
    return undefined; // it breaks off: there is nothing to show
  }
}

const endingOf = ({ type }: Blob): string => type.slice('image/'.length).replace('jpeg', 'jpg');
