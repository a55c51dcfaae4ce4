/** Webhooks between the document and the form: secrets are not shown, and stay as they are where nothing is typed. */

export interface WebhookValues {
  readonly key: string;
  readonly url: string;
  readonly secret: string;
  /** What stands for what is not shown; undefined where everything is. */
  readonly keptUrl: string | undefined;
  readonly keptSecret: string | undefined;
}

const isSealed = (text: unknown): text is string => typeof text === 'string' && text.startsWith('(sealed');

export function readWebhooks(document: Readonly<Record<string, unknown>>): WebhookValues[] {
  const { webhooks } = document;
  if (!Array.isArray(webhooks)) return [];
  return webhooks.map((one: Readonly<Record<string, unknown>>, index) => {
    const { url, secret } = one;
    return {
      key: `kept ${index}`,
      url: isSealed(url) ? '' : String(url ?? ''),
      secret: '',
      keptUrl: isSealed(url) ? url : undefined,
      keptSecret: isSealed(secret) ? secret : undefined,
    };
  });
}

export function toWebhooks(values: readonly WebhookValues[]): Readonly<Record<string, string>>[] {
  return values.map(({ url, secret, keptUrl, keptSecret }) => {
    const signs = secret === '' ? keptSecret : secret;
    const address = url.trim() === '' && keptUrl !== undefined ? keptUrl : url.trim();
    return { url: address, ...(signs !== undefined && signs !== '' && { secret: signs }) };
  });
}
