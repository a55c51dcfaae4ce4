/** The kinds of service that there can be upstreams of. */

import { defineEndpoint } from '../../endpoint.ts';
import { familyList } from '../contract/families.ts';
import { toFamilyView } from '../family-view.ts';

export const listFamilies = defineEndpoint({
  method: 'GET',
  path: '/api/families',
  summary: 'List the families of upstreams, with what each needs and offers',
  tag: 'Upstreams',
  needs: 'viewer',
  answer: familyList,
  run: ({ context }) => ({ items: context.families.map(toFamilyView) }),
});
