/** The page Settings. */

import { PageHead } from '../../parts/page-head.tsx';

export default function Settings() {
  return <PageHead title="Settings" />;
}
