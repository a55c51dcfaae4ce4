/** The ways to each page. */

import { NavLink } from '@mantine/core';
import { Link, useLocation } from 'wouter';
import { Icon } from '../marks/icon.tsx';
import type { PageEntry } from './page-entry.ts';

interface NavigationProps {
  readonly pages: readonly PageEntry[];
  onChoose?(): void;
}

export function Navigation({ pages, onChoose }: NavigationProps) {
  const [location] = useLocation();
  return (
    <nav aria-label="Pages">
      {pages.map(({ path, title, icon }) => {
        const isHere = isUnder(path, location);
        return (
          <NavLink
            key={path}
            component={Link}
            href={path}
            label={title}
            leftSection={<Icon name={icon} />}
            active={isHere}
            className="nav-link"
            {...(isHere ? { 'aria-current': 'page' } : {})}
            {...(onChoose === undefined ? {} : { onClick: onChoose })}
          />
        );
      })}
    </nav>
  );
}

const isUnder = (path: string, location: string): boolean =>
  path === '/' ? location === '/' : location === path || location.startsWith(`${path}/`);
