/** A fake service that stores files per account. */

import type { Handler } from './fake-upstream.ts';

interface KeptFile {
  readonly id: string;
  readonly account: string;
  /** Of the form, as it came. */
  readonly form: Buffer;
}

export interface FileService {
  readonly handler: Handler;
  readonly kept: Map<string, KeptFile>;
}

export function createFileService(): FileService {
  const kept = new Map<string, KeptFile>();
  let made = 0;
  const documentOf = ({ id, form }: KeptFile): object => {
    const purpose = /name="purpose"\r\n\r\n([\w-]+)/.exec(form.toString('latin1'))?.[1];
    return { id, object: 'file', bytes: form.length, created_at: 1, filename: 'x', purpose, status: 'processed' };
  };

  const handler: Handler = (request, reply) => {
    const account = request.header('authorization') ?? request.header('api-key') ?? '';
    const [path = ''] = request.path.split('?');
    const [, id, tail] = path.slice(path.indexOf('/files') + 1).split('/');
    if (id === undefined && request.method === 'POST') {
      made += 1;
      const file = { id: `file-${made}`, account, form: request.body };
      kept.set(file.id, file);
      return reply.json(200, documentOf(file));
    }
    const file = kept.get(id ?? '');
    if (file === undefined || file.account !== account) return reply.json(404, { error: { message: 'No such file.' } });
    if (request.method === 'DELETE') {
      kept.delete(file.id);
      return reply.json(200, { id: file.id, object: 'file', deleted: true });
    }
    if (tail !== 'content') return reply.json(200, documentOf(file));
    return reply.bytes(200, [['content-type', 'application/octet-stream']], file.form);
  };

  return { handler, kept };
}
