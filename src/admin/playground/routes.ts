/** The six routes of the gateway that the console may call, and nothing else that could be an address. */

export const gatewayRoutes = [
  'completions',
  'edits',
  'rerank',
  'moderations',
  'embeddings',
  'engines-embeddings',
] as const;
export type GatewayRoute = (typeof gatewayRoutes)[number];

const paths: Readonly<Record<GatewayRoute, (model: string) => string>> = {
  completions: () => '/v1/completions',
  edits: () => '/v1/edits',
  rerank: () => '/v1/rerank',
  moderations: () => '/v1/moderations',
  embeddings: () => '/v1/embeddings',
  // One encoded segment: a model's name cannot lead elsewhere.
  'engines-embeddings': (model) => `/v1/engines/${encodeURIComponent(model)}/embeddings`,
};

/** Under the address of the clients' listener. The model counts on the legacy path alone, where it stands in the path. */
export const toGatewayPath = (route: GatewayRoute, model = ''): string => paths[route](model);
