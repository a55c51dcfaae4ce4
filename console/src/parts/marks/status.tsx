/** Shows a status as icon and word, never by colour alone. */

import { Badge, Text, Tooltip } from '@mantine/core';
import { Tag } from '../layout/text.tsx';
import { formatCount, formatPercent } from '../words/format.ts';
import { resultWords, stateWords } from '../words/labels.ts';
import { Icon, type IconName } from './icon.tsx';

interface Look {
  readonly label: string;
  readonly icon: IconName;
  readonly tone: 'good' | 'bad' | 'wait' | 'quiet';
}

const looks = {
  healthy: { label: stateWords.healthy, icon: 'check', tone: 'good' },
  degraded: { label: stateWords.degraded, icon: 'warning', tone: 'wait' },
  cooldown: { label: stateWords.cooldown, icon: 'pause', tone: 'bad' },
  untested: { label: stateWords.untested, icon: 'help', tone: 'quiet' },
  probing: { label: 'Trying again', icon: 'refresh', tone: 'wait' },
  loading: { label: 'Loading', icon: 'clock', tone: 'wait' },
  resting: { label: stateWords.cooldown, icon: 'pause', tone: 'bad' },
  failing: { label: stateWords.failing, icon: 'warning', tone: 'bad' },
  unknown: { label: 'Unknown', icon: 'help', tone: 'quiet' },
  ok: { label: 'OK', icon: 'check', tone: 'good' },
  error: { label: resultWords.failed, icon: 'close', tone: 'bad' },
  warning: { label: 'Look at this', icon: 'warning', tone: 'wait' },
  pending: { label: 'Waiting', icon: 'clock', tone: 'wait' },
  active: { label: 'Active', icon: 'check', tone: 'good' },
  revoked: { label: 'Revoked', icon: 'ban', tone: 'bad' },
  expired: { label: 'Expired', icon: 'clock', tone: 'quiet' },
  visible: { label: 'Visible', icon: 'eye', tone: 'good' },
  hidden: { label: 'Hidden', icon: 'eyeOff', tone: 'quiet' },
  off: { label: 'Off', icon: 'minus', tone: 'quiet' },
  left: { label: resultWords.cancelled, icon: 'leave', tone: 'quiet' },
} as const satisfies Record<string, Look>;

export type Status = keyof typeof looks;

interface StatusBadgeProps {
  readonly state: Status;
  /** Replaces the state's default label. */
  readonly label?: string;
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

interface SuccessProps {
  readonly calls: number;
  readonly failedCalls: number;
}

/** Shows the share of successful calls; empty if there were no recent ones. The badge beside it says whether the share is good. */
export function Success({ calls, failedCalls }: SuccessProps) {
  if (calls === 0) return null;
  const share = formatPercent((calls - failedCalls) / calls);
  return (
    <Text size="xs" component="span">
      {`${share} of ${formatCount(calls)} ${calls === 1 ? 'call' : 'calls'} in 5 min`}
    </Text>
  );
}

interface ManagedByProps {
  readonly by: 'file' | 'store' | 'embedded' | 'built-in';
  readonly place?: { readonly file: string; readonly line: number } | null | undefined;
  /** Whether to show an icon only, for rows of one line. */
  readonly isShort?: boolean;
}

/** Shows where an element is managed; nothing for one in the store, which can be changed here. */
export function ManagedBy({ by, place, isShort = false }: ManagedByProps) {
  if (by === 'store') return null;
  if (by !== 'file') return <Standing by={by} isShort={isShort} />;
  const where =
    place === null || place === undefined ? 'the configuration file' : `${nameOf(place.file)}:${place.line}`;
  return (
    <Tooltip
      label={`Declared in ${place?.file ?? where}${place ? `, line ${place.line}` : ''}: change it there.`}
      withinPortal
      multiline
      maw={360}
    >
      {isShort ? (
        <span className="short-mark" role="img" aria-label={`Declared in ${where}`}>
          <Icon name="file" size={14} />
        </span>
      ) : (
        <Tag leftSection={<Icon name="file" size={12} />}>{where}</Tag>
      )}
    </Tooltip>
  );
}

const standing = {
  embedded: ['Comes with Postern', 'It is part of what Postern starts with where there is no postern.yaml.'],
  'built-in': ['Comes with its upstream', 'It is there as long as its upstream is, and declared nowhere.'],
} as const;

function Standing({ by, isShort }: { readonly by: keyof typeof standing; readonly isShort: boolean }) {
  const [words, why] = standing[by];
  return (
    <Tooltip label={why} withinPortal multiline maw={360}>
      {isShort ? (
        <span className="short-mark" role="img" aria-label={words}>
          <Icon name="info" size={14} />
        </span>
      ) : (
        <Tag>{words}</Tag>
      )}
    </Tooltip>
  );
}

const nameOf = (file: string): string => file.split(/[\\/]/).at(-1) ?? file;
