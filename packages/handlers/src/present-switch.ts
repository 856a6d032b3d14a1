import type { SwitchState } from '@market/core/switches'

export const presentSwitch = (state: SwitchState) => ({
  name: state.name,
  on: state.onSince !== null,
  on_since: state.onSince?.toISOString() ?? null,
  changed_at: state.changedAt?.toISOString() ?? null,
  changed_by: state.changedBy,
  reason: state.reason,
})
