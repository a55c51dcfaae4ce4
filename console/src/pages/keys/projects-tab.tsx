/** The tab of the projects. */

import { Button } from '@mantine/core';
import { useSearchParams } from 'wouter';
import { Empty, Failed, Loading } from '../../parts/layout/state.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { Needs } from '../../parts/session/role.tsx';
import { useProjects } from './data.ts';
import { ProjectList } from './project-list.tsx';

export function ProjectsTab({ onSelect }: { readonly onSelect: (id: string) => void }) {
  const { data, error, refetch } = useProjects();
  const [, setSearch] = useSearchParams();
  if (error !== null && data === undefined) return <Failed error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading rows={3} rowHeight={110} />;
  if (data.items.length > 0) return <ProjectList projects={data.items} onSelect={onSelect} />;
  return (
    <Empty
      icon="project"
      title="No projects yet"
      action={
        <Needs role="admin">
          <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setSearch({ new: 'project' })}>
            Create a project
          </Button>
        </Needs>
      }
    >
      A project is what several keys have in common: limits and budgets that hold for all of them together, and one line
      in every report.
    </Empty>
  );
}
