/** Tables: rows with the same columns, or facts of one thing. Cells take a key, as in any list. */

import { type MantineStyleProps, Table, type TableProps, UnstyledButton, VisuallyHidden } from '@mantine/core';
import type { ComponentPropsWithoutRef, ReactNode } from 'react';

interface Column extends Pick<MantineStyleProps, 'ta' | 'w' | 'miw' | 'maw'> {
  readonly title: string;
  readonly className?: string;
  /** The title is for screen readers only. */
  readonly isHidden?: boolean;
  /** Rows can be sorted by it. */
  readonly isSortable?: boolean;
}

/** The column that the rows are sorted by, by its title. */
export interface Sorting {
  readonly by: string;
  readonly isDescending: boolean;
}

interface Row extends Omit<ComponentPropsWithoutRef<'tr'>, 'children'> {
  readonly id: string;
  /** One for each column. */
  readonly cells: readonly ReactNode[];
}

interface DataTableProps extends Omit<TableProps, 'data' | 'children'> {
  /** A string for a column with only a title. */
  readonly columns: readonly (string | Column)[];
  readonly rows: readonly Row[];
  /** Whether the first cell of a row is its header. */
  readonly isNamed?: boolean;
  readonly foot?: Row;
  readonly caption?: ReactNode;
  readonly sorting?: Sorting;
  readonly onSort?: ((sorting: Sorting) => void) | undefined;
}

export function DataTable(props: DataTableProps) {
  const { columns, rows, isNamed = false, foot, caption, sorting, onSort, ...table } = props;
  const all = columns.map((column): Column => {
    if (typeof column === 'string') return { title: column };
    return column.ta === 'right' ? { className: 'one-line', ...column } : column;
  });
  const toRow = ({ id, cells, ...row }: Row, weight: number) => (
    <Table.Tr key={id} {...row}>
      {all.map(({ title, isHidden: _, isSortable: __, ...cell }, at) =>
        isNamed && at === 0 ? (
          <Table.Th key={title} scope="row" fw={weight} ta="left" {...cell}>
            {cells[at]}
          </Table.Th>
        ) : (
          <Table.Td key={title} {...cell}>
            {cells[at]}
          </Table.Td>
        ),
      )}
    </Table.Tr>
  );
  return (
    <Table {...table}>
      {caption}
      <Table.Thead>
        <Table.Tr>
          {all.map(({ title, isHidden = false, isSortable = false, className, ...cell }) => (
            // At the right edge, hidden content would make the page wider.
            <Table.Th
              key={title}
              scope="col"
              {...(isHidden ? {} : cell)}
              {...(className === 'one-line' && { className })}
              {...(sorting?.by === title && { 'aria-sort': sorting.isDescending ? 'descending' : 'ascending' })}
            >
              {isSortable ? (
                <SortButton title={title} sorting={sorting} onSort={onSort} />
              ) : isHidden ? (
                <VisuallyHidden>{title}</VisuallyHidden>
              ) : (
                title
              )}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>{rows.map((row) => toRow(row, 400))}</Table.Tbody>
      {foot !== undefined && <Table.Tfoot>{toRow(foot, 700)}</Table.Tfoot>}
    </Table>
  );
}

interface SortButtonProps {
  readonly title: string;
  readonly sorting: Sorting | undefined;
  readonly onSort: DataTableProps['onSort'];
}

/** Largest first; pressed again, smallest first. */
function SortButton({ title, sorting, onSort }: SortButtonProps) {
  const isBy = sorting?.by === title;
  return (
    <UnstyledButton
      className="sort-button"
      onClick={() => onSort?.({ by: title, isDescending: isBy ? !sorting.isDescending : true })}
    >
      {title}
      <span aria-hidden="true" className={isBy ? undefined : 'sort-mark'}>
        {isBy ? (sorting.isDescending ? ' ↓' : ' ↑') : ' ↕'}
      </span>
    </UnstyledButton>
  );
}

/** Name and value; undefined and null are left out. */
export type Fact = readonly [name: string, value: ReactNode];

interface FactTableProps extends Omit<TableProps, 'data' | 'children'> {
  readonly facts: readonly Fact[];
  readonly nameWidth: number | string;
}

export const FactTable = ({ facts, nameWidth, ...table }: FactTableProps) => (
  <Table layout="fixed" {...table}>
    <Table.Tbody>
      {facts.map(([name, value]) =>
        value === undefined || value === null ? null : (
          <Table.Tr key={name}>
            <Table.Th scope="row" w={nameWidth} className="breaks">
              {name}
            </Table.Th>
            <Table.Td className="breaks">{value}</Table.Td>
          </Table.Tr>
        ),
      )}
    </Table.Tbody>
  </Table>
);
