/** Parses the Docker Compose file; an unknown key is a fault, so that none goes untested. */

import { parse } from 'yaml';
import * as z from 'zod';

const words = z.array(z.string());

const service = z.strictObject({
  image: z.string(),
  build: z.strictObject({ context: z.literal('..'), dockerfile: z.literal('deploy/Dockerfile') }).optional(),
  restart: z.literal('unless-stopped').optional(),
  read_only: z.boolean().default(false),
  cap_drop: z.tuple([z.literal('ALL')]).optional(),
  security_opt: z.tuple([z.literal('no-new-privileges:true')]).optional(),
  env_file: z.array(z.strictObject({ path: z.string(), required: z.literal(false) })).default([]),
  environment: z.record(z.string(), z.string()).default({}),
  entrypoint: words.optional(),
  command: words.optional(),
  user: z
    .string()
    .regex(/^\d+:\d+$/)
    .optional(),
  hostname: z.string().optional(),
  ports: z.array(z.string().regex(/^([\d.]+:)?\d+:\d+$/)).default([]),
  volumes: z.array(z.string().regex(/^[^:]+:\/[^:]*(:ro)?$/)).default([]),
  tmpfs: z.array(z.string().startsWith('/')).default([]),
  healthcheck: z
    .strictObject({
      test: z.tuple([z.literal('CMD')], z.string()),
      interval: z.string(),
      timeout: z.string(),
      retries: z.number().optional(),
    })
    .optional(),
  stop_grace_period: z
    .string()
    .regex(/^\d+s$/)
    .default('10s'),
  stop_signal: z.enum(['SIGTERM', 'SIGINT']).default('SIGTERM'),
  depends_on: z
    .record(
      z.string(),
      z.strictObject({ condition: z.enum(['service_healthy', 'service_completed_successfully', 'service_started']) }),
    )
    .default({}),
});

const composeFile = z
  .object({
    name: z.string(),
    services: z.record(z.string(), service),
    volumes: z.record(z.string(), z.strictObject({})),
  })
  // Extensions are for the file itself, which refers to them.
  .catchall(z.unknown())
  .refine(
    (file) => Object.keys(file).every((key) => /^(name|services|volumes|x-.+)$/.test(key)),
    'a section is not known',
  );

export type ComposeService = z.output<typeof service>;
type ComposeFile = Pick<z.output<typeof composeFile>, 'services' | 'volumes'>;

export function readCompose(text: string): ComposeFile {
  return composeFile.parse(parse(text, { merge: true }));
}
