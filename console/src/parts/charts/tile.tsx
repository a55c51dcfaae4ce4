/** Shows a figure with a label above and a remark below. */

import './charts.css';
import { Paper, Skeleton } from '@mantine/core';
import type { ReactNode } from 'react';

interface TileProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly note: ReactNode;
}

export const Tile = ({ label, value, note }: TileProps) => (
  <Paper withBorder p="sm" className="tile">
    <div className="tile-label">{label}</div>
    {value === undefined ? (
      <Skeleton height={28} width={90} my={3} />
    ) : (
      <div className="tile-value numeric">{value}</div>
    )}
    <div className="tile-note">{note}</div>
  </Paper>
);
