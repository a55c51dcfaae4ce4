/** The kinds of service that there can be upstreams of. */

import { implement } from '../../implement.ts';
import * as contract from '../contract/families.ts';
import { toFamilyView } from '../family-view.ts';

const listFamilies = implement(contract.listFamilies, ({ context }) => ({ items: context.families.map(toFamilyView) }));

export default [listFamilies];
