/** The routes of the gateway that the console may call, and nothing else that could be an address. */

import { hasModelInPath, operationRows, operations, pathOf } from '../../core/operations/index.ts';

export const gatewayRoutes = [...operations, 'engines-embeddings'] as const;
export type GatewayRoute = (typeof gatewayRoutes)[number];

/** Whether the model stands in the path and not in the body. */
export const namesModelInPath = (route: GatewayRoute): boolean =>
  route === 'engines-embeddings' || hasModelInPath(operationRows[route]);

/** Under the address of the clients' listener. The model counts where it stands in the path. */
export const toGatewayPath = (route: GatewayRoute, model = ''): string =>
  // One encoded segment: a model's name cannot lead elsewhere.
  route === 'engines-embeddings' ? `/v1/engines/${encodeURIComponent(model)}/embeddings` : pathOf(route, model);
