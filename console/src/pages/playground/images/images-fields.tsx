/** What to make, from what, how many, how large and how well. */

import { Autocomplete, SegmentedControl, Stack, Textarea } from '@mantine/core';
import { operationWords } from '../../../parts/words/operations.ts';
import { Examples } from '../examples.tsx';
import { FilePick } from '../file-pick.tsx';
import { FurtherFields } from '../further-fields.tsx';
import { ModelPair } from '../model-pair.tsx';
import { ChoiceOption, countSet, MoreOptions, NumberOption } from '../more-options.tsx';
import type { Put } from '../use-kept.ts';
import { type Files, type ImagesForm, imageOperations, imagesExamples, operationOf, takesPrompt } from './form.ts';

interface ImagesFieldsProps {
  readonly form: ImagesForm;
  readonly put: Put<ImagesForm>;
  readonly files: Files;
  onFiles(files: Files): void;
  readonly wantedModel: string | undefined;
}

const pictureTypes = 'image/png,image/jpeg,image/webp';
const mostPictures = 16;

export function ImagesFields({ form, put, files, onFiles, wantedModel }: ImagesFieldsProps) {
  const operation = operationOf(form);
  return (
    <Stack gap="sm">
      <Examples
        examples={imagesExamples}
        onPick={(values) => put(values.operation === operation ? values : { ...values, model: '', other: '' })}
      />
      <SegmentedControl
        aria-label="What to do"
        data={imageOperations.map((value) => ({ value, label: operationWords[value] }))}
        value={operation}
        // Models of one seldom serve another.
        onChange={(next) => put({ operation: next, model: '', other: '' })}
        fullWidth
        size="xs"
      />
      <ModelPair operation={operation} form={form} put={put} wanted={wantedModel} />
      {takesPrompt(operation) && (
        <Textarea
          label="Prompt"
          description="What the picture shall show"
          value={form.prompt}
          onChange={(event) => put({ prompt: event.currentTarget.value })}
          autosize
          minRows={3}
          maxRows={12}
        />
      )}
      {operation !== 'images' && (
        <FilePick
          label={operation === 'image_edits' ? 'Pictures to work from' : 'Picture to vary'}
          description="PNG, JPEG or WebP; choose, or drop here"
          accept={pictureTypes}
          files={files.pictures}
          onChange={(pictures) => onFiles({ ...files, pictures })}
          most={operation === 'image_edits' ? mostPictures : 1}
        />
      )}
      {operation === 'image_edits' && (
        <FilePick
          label="Mask"
          description="A PNG, see-through where it may change; none is needed"
          accept="image/png"
          files={files.mask}
          onChange={(mask) => onFiles({ ...files, mask })}
          most={1}
        />
      )}
      <Look form={form} put={put} />
    </Stack>
  );
}

const sizes = ['auto', '1024x1024', '1536x1024', '1024x1536', '512x512', '256x256'];
const qualities = ['auto', 'low', 'medium', 'high', 'standard', 'hd'];
const formats = [
  { value: 'b64_json', label: 'b64_json: the picture itself' },
  { value: 'url', label: 'url: where it lies' },
];

function Look({ form: { n, size, quality, format, further }, put }: Pick<ImagesFieldsProps, 'form' | 'put'>) {
  return (
    <MoreOptions set={countSet([n, size, quality, format, further])}>
      <NumberOption label="n" description="How many" value={n} onChange={(next) => put({ n: next })} min={1} max={10} />
      <Autocomplete
        label="size"
        description="Width and height"
        placeholder="not sent"
        data={sizes}
        value={size}
        onChange={(next) => put({ size: next })}
      />
      <Autocomplete
        label="quality"
        description="By the model's own words"
        placeholder="not sent"
        data={qualities}
        value={quality}
        onChange={(next) => put({ quality: next })}
      />
      <ChoiceOption
        label="response_format"
        description="How the picture comes"
        choices={formats}
        value={format}
        onChange={(next) => put({ format: next })}
      />
      <FurtherFields
        example='{"background": "transparent"}'
        value={further}
        onChange={(next) => put({ further: next })}
      />
    </MoreOptions>
  );
}
