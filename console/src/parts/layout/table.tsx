/** Renders tables: rows with the same columns, or facts of one thing. Cells need a key, as in any list. */

import { type MantineStyleProps, Table, type TableProps, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { type ComponentPropsWithoutRef, memo, type ReactNode } from 'react';

interface Column extends Pick<MantineStyleProps, 'ta' | 'w' | 'miw' | 'maw'> {
  readonly title: string;
  readonly className?: string;
  /** Whether the title is for screen readers only. */
  readonly isHidden?: boolean;
  readonly isSortable?: boolean;
}

/**
 * How a list with many columns fits the screen without scrolling sideways: as cards; as rows whose first cell has a second line with the facts that
 * have no column; or with a column for everything.
 */
export function useListShape(): 'cards' | 'two lines' | 'one line' {
  const isNarrow = useMediaQuery('(max-width: 61.99em)', undefined, { getInitialValueInEffect: false });
  const isWide = useMediaQuery('(min-width: 87.5em)', undefined, { getInitialValueInEffect: false });
  return isNarrow ? 'cards' : isWide ? 'one line' : 'two lines';
}

/** Properties of a table that fits its place: each column except one has a fixed width. */
export const fitting = { layout: 'fixed', horizontalSpacing: 6, className: 'fitting-table' } as const;

export interface Sorting {
  readonly by: string;
  readonly isDescending: boolean;
}

interface Row extends Omit<ComponentPropsWithoutRef<'tr'>, 'children'> {
  readonly id: string;
  readonly cells: readonly ReactNode[];
  /** All that the cells depend on: a row of a long list is rendered again only if one of these values changes. */
  readonly shows?: readonly unknown[];
}

interface DataTableProps extends Omit<TableProps, 'data' | 'children' | 'className'> {
  /** The columns; a string stands for a column that has only a title. */
  readonly columns: readonly (string | Column)[];
  readonly className?: string;
  readonly rows: readonly Row[];
  /** Whether the first cell of a row is its header. */
  readonly isNamed?: boolean;
  /** Whether the cells of a row are below each other on a phone, each with its title. */
  readonly stacks?: boolean;
  readonly foot?: Row;
  readonly caption?: ReactNode;
  readonly sorting?: Sorting;
  readonly onSort?: ((sorting: Sorting) => void) | undefined;
}

/** Limit of cells below each other on a phone; with more, two are side by side. */
const mostInOneColumn = 5;

export function DataTable(props: DataTableProps) {
  const {
    columns,
    rows,
    isNamed = false,
    stacks = false,
    foot,
    caption,
    sorting,
    onSort,
    className = '',
    ...table
  } = props;
  const all = columns.map((column): Column => (typeof column === 'string' ? { title: column } : column));
  const stackClass = !stacks ? '' : columns.length > mostInOneColumn ? 'stacking-table paired-cells' : 'stacking-table';
  return (
    <Table {...table} className={`${stackClass} ${className}`}>
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
      <Table.Tbody>
        {rows.map((row) => (
          <TableRow key={row.id} row={row} columns={all} isNamed={isNamed} weight={400} />
        ))}
      </Table.Tbody>
      {foot !== undefined && (
        <Table.Tfoot>
          <TableRow row={foot} columns={all} isNamed={isNamed} weight={700} />
        </Table.Tfoot>
      )}
    </Table>
  );
}

interface TableRowProps {
  readonly row: Row;
  readonly columns: readonly Column[];
  readonly isNamed: boolean;
  readonly weight: number;
}

const TableRow = memo(function TableRow({ row, columns, isNamed, weight }: TableRowProps) {
  const { id: _, cells, shows: __, ...attributes } = row;
  return (
    <Table.Tr {...attributes}>
      {columns.map(({ title, isHidden, isSortable: _, w: __, ...cell }, at) =>
        isNamed && at === 0 ? (
          <Table.Th key={title} scope="row" fw={weight} ta="left" {...cell}>
            {cells[at]}
          </Table.Th>
        ) : (
          <Table.Td
            key={title}
            data-title={at === 0 || isHidden ? undefined : title}
            {...(cell.ta === 'right' && { className: 'one-line' })}
            {...cell}
          >
            {cells[at]}
          </Table.Td>
        ),
      )}
    </Table.Tr>
  );
}, showsTheSame);

/** Whether two versions of a row show the same. Columns are not compared: they only change together with what a row shows. */
function showsTheSame({ row: one }: TableRowProps, { row: other }: TableRowProps): boolean {
  return one.shows?.every((shown, at) => Object.is(shown, other.shows?.[at])) === true;
}

interface SortButtonProps {
  readonly title: string;
  readonly sorting: Sorting | undefined;
  readonly onSort: DataTableProps['onSort'];
}

/** A button that sorts by a column: first the largest on top, pressed again the smallest. */
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

/** Name and value of a fact; facts whose value is undefined or null are left out. */
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
