/** Reads the last stage of the Dockerfile: user, command, working directory and environment. */

import * as z from 'zod';

interface ImageFacts {
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly user: string;
  readonly directory: string;
  readonly healthcheck: readonly string[];
}

const words = z.array(z.string());

export function readDockerfile(text: string): ImageFacts {
  const lines = text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n');
  const stage = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')));
  const said = (instruction: string): string => {
    const [line] = stage.filter((one) => one.startsWith(`${instruction} `)).slice(-1);
    if (line === undefined) throw new Error(`the Dockerfile has no ${instruction}`);
    return line.slice(instruction.length + 1).trim();
  };
  return {
    entrypoint: words.parse(JSON.parse(said('ENTRYPOINT'))),
    command: words.parse(JSON.parse(said('CMD'))),
    environment: Object.fromEntries(
      said('ENV')
        .split(/\s+/)
        .map((pair) => pair.split('=', 2)),
    ),
    user: said('USER'),
    directory: said('WORKDIR'),
    healthcheck: words.parse(JSON.parse(said('HEALTHCHECK').replace(/^.*? ?CMD /, ''))),
  };
}
