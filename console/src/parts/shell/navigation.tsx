/** Shows the navigation to all pages. */

import { NavLink } from '@mantine/core';
import type { ComponentType } from 'react';
import { Link, useLocation } from 'wouter';
import type { Role } from '../../../../src/admin/contract.ts';
import { Icon, type IconName } from '../marks/icon.tsx';

export function Navigation({ pages, onChoose }: { readonly pages: readonly PageEntry[]; onChoose?(): void }) {
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

export interface PageEntry {
  readonly path: string;
  readonly title: string;
  readonly icon: IconName;
  readonly component: ComponentType;
  /** The key to press after `g`. */
  readonly letter: string;
  /** The role that may see the page; undefined: anybody. */
  readonly role?: Role;
  readonly keywords: readonly string[];
}
