/** How something is, as an icon and a word: never by colour alone. */

import { Badge, Tooltip } from '@mantine/core';
import { Icon, type IconName } from './icon.tsx';

interface Look {
  readonly label: string;
  readonly icon: IconName;
  readonly tone: 'good' | 'bad' | 'wait' | 'quiet';
}

const looks = {
  healthy: { label: 'Healthy', icon: 'check', tone: 'good' },
  probing: { label: 'Trying again', icon: 'refresh', tone: 'wait' },
  loading: { label: 'Loading', icon: 'clock', tone: 'wait' },
  resting: { label: 'Resting', icon: 'pause', tone: 'bad' },
  failing: { label: 'Failing', icon: 'warning', tone: 'bad' },
  unknown: { label: 'Unknown', icon: 'help', tone: 'quiet' },
  ok: { label: 'OK', icon: 'check', tone: 'good' },
  error: { label: 'Failed', icon: 'close', tone: 'bad' },
  warning: { label: 'Look at this', icon: 'warning', tone: 'wait' },
  pending: { label: 'Waiting', icon: 'clock', tone: 'wait' },
  active: { label: 'Active', icon: 'check', tone: 'good' },
  revoked: { label: 'Revoked', icon: 'ban', tone: 'bad' },
  expired: { label: 'Expired', icon: 'clock', tone: 'quiet' },
  visible: { label: 'Visible', icon: 'eye', tone: 'good' },
  hidden: { label: 'Hidden', icon: 'eyeOff', tone: 'quiet' },
  off: { label: 'Off', icon: 'minus', tone: 'quiet' },
  left: { label: 'Client left', icon: 'leave', tone: 'quiet' },
} as const satisfies Record<string, Look>;

export type Status = keyof typeof looks;

interface StatusBadgeProps {
  readonly state: Status;
  /** Instead of the state's own word. */
  readonly label?: string;
  /** Why it is so: in a tooltip. */
  readonly why?: string | null | undefined;
}

export function StatusBadge({ state, label, why }: StatusBadgeProps) {
  const { label: ownLabel, icon, tone } = looks[state];
  const badge = (
    <Badge
      variant="default"
      className="plain-badge whole-badge"
      leftSection={
        <span className={`tone-${tone}`}>
          <Icon name={icon} size={13} />
        </span>
      }
      {...(why ? { tabIndex: 0 } : {})}
    >
      {label ?? ownLabel}
    </Badge>
  );
  if (!why) return badge;
  return (
    <Tooltip label={why} withinPortal multiline maw={360} events={{ hover: true, focus: true, touch: true }}>
      {badge}
    </Tooltip>
  );
}
