/** Shows the tab of projects: the keys and budgets of each. */

import { Card, Group, SimpleGrid, Stack, Text, UnstyledButton } from '@mantine/core';
import { Link, useSearchParams } from 'wouter';
import type { Project } from '../../../../src/admin/contract.ts';
import { Action } from '../../parts/layout/button.tsx';
import { Empty, Failed, Loading } from '../../parts/layout/state.tsx';
import { Muted, Remark } from '../../parts/layout/text.tsx';
import { ManagedBy, StatusBadge } from '../../parts/marks/status.tsx';
import { Needs } from '../../parts/session/role.tsx';
import { listItem } from '../../parts/shell/shortcuts.tsx';
import { formatCount } from '../../parts/words/format.ts';
import { pageOf } from '../../parts/words/links.ts';
import { useProjects } from './data.ts';
import { limitsInWords } from './key-badges.tsx';
import { BudgetBar } from './spend-facts.tsx';

export function ProjectsTab() {
  const { data, error, refetch } = useProjects();
  const [, setSearch] = useSearchParams();
  if (error !== null && data === undefined) return <Failed error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading rows={3} rowHeight={110} />;
  if (data.items.length > 0) return <ProjectList projects={data.items} />;
  return (
    <Empty
      icon="project"
      title="No projects yet"
      action={
        <Needs role="admin">
          <Action icon="plus" label="Create a project" variant="filled" onClick={() => setSearch({ new: 'project' })} />
        </Needs>
      }
    >
      A project is what several keys have in common: limits and budgets that hold for all of them together, and one line
      in every report.
    </Empty>
  );
}

interface ProjectListProps {
  readonly projects: readonly Project[];
}

const ProjectList = ({ projects }: ProjectListProps) => (
  <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} component="ul" className="plain-list" aria-label="Projects">
    {projects.map((project) => (
      <ProjectCard key={project.id} project={project} />
    ))}
  </SimpleGrid>
);

function ProjectCard({ project }: { readonly project: Project }) {
  const limits = limitsInWords(project.document.limits);
  const { name } = project.document;
  return (
    <Card component="li" withBorder padding="md">
      <Stack gap="xs">
        <UnstyledButton
          {...listItem}
          component={Link}
          href={pageOf({ kind: 'project', id: project.id })}
          className="row-name"
        >
          <Text fw={600} className="breaks">
            {typeof name === 'string' ? name : project.id}
          </Text>
          <Remark className="breaks">
            {project.id} · {project.keys === 1 ? 'one key' : `${formatCount(project.keys)} keys`}
          </Remark>
        </UnstyledButton>
        <ProjectOrigin project={project} />
        {limits.length > 0 && <Text size="sm">{limits.join(', ')}</Text>}
        {project.budgets.map((budget) => (
          <BudgetBar key={budget.every} budget={budget} />
        ))}
        {limits.length === 0 && project.budgets.length === 0 && <Muted>No limits and no budget</Muted>}
      </Stack>
    </Card>
  );
}

/** Where a project is declared, and whether the gateways have applied it. */
export function ProjectOrigin({ project: { managedBy, place, inForce } }: { readonly project: Project }) {
  if (managedBy === 'store' && inForce) return null;
  return (
    <Group gap={6}>
      <ManagedBy by={managedBy === 'store' ? 'store' : 'file'} place={place} />
      {!inForce && <StatusBadge state="pending" label="In force in a moment" />}
    </Group>
  );
}
