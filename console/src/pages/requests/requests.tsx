/** The page Requests. */

import { PageHead } from '../../parts/page-head.tsx';

export default function Requests() {
  return <PageHead title="Requests" />;
}
