/** The projects, each with its keys and how far its budgets have come. */

import { Card, SimpleGrid, Stack, Text, UnstyledButton } from '@mantine/core';
import type { Project } from '../../../../src/admin/contract.ts';
import { formatCount } from '../../parts/words/format.ts';
import { BudgetBar } from './budget-bar.tsx';
import { limitsInWords } from './key-words.ts';
import { ProjectPlace } from './project-place.tsx';
import { toProjectCaps } from './project-values.ts';

interface ProjectListProps {
  readonly projects: readonly Project[];
  readonly onSelect: (id: string) => void;
}

export function ProjectList({ projects, onSelect }: ProjectListProps) {
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} component="ul" className="plain-list" aria-label="Projects">
      {projects.map((project) => (
        <ProjectCard key={project.id} project={project} onSelect={onSelect} />
      ))}
    </SimpleGrid>
  );
}

function ProjectCard({ project, onSelect }: { readonly project: Project; readonly onSelect: (id: string) => void }) {
  const limits = limitsInWords(toProjectCaps(project.document).limits);
  const { name } = project.document;
  return (
    <Card component="li" withBorder padding="md">
      <Stack gap="xs">
        <UnstyledButton onClick={() => onSelect(project.id)} className="row-name">
          <Text fw={600} className="breaks">
            {typeof name === 'string' ? name : project.id}
          </Text>
          <Text size="xs" c="dimmed" className="breaks">
            {project.id} · {project.keys === 1 ? 'one key' : `${formatCount(project.keys)} keys`}
          </Text>
        </UnstyledButton>
        <ProjectPlace project={project} />
        {limits.length > 0 && <Text size="sm">{limits.join(', ')}</Text>}
        {project.budgets.map((budget) => (
          <BudgetBar key={budget.every} budget={budget} />
        ))}
        {limits.length === 0 && project.budgets.length === 0 && (
          <Text size="sm" c="dimmed">
            No limits and no budget
          </Text>
        )}
      </Stack>
    </Card>
  );
}
