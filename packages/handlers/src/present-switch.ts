import { payoutSwitches, type SwitchState } from '@market/core/switches'
import type { AliveUntil } from '@market/money/payouts'

/** The last of the networks that the switch freezes. */
function completeAt({ name, onSince }: SwitchState, alive: AliveUntil): string | null {
  if (onSince === null) return null
  const ends = [...alive].flatMap(([network, end]) => (payoutSwitches(network).includes(name) ? [end] : []))
  const [last] = ends.toSorted((a, b) => b.getTime() - a.getTime())
  return last?.toISOString() ?? null
}

export const presentSwitch = (state: SwitchState, alive: AliveUntil) => ({
  name: state.name,
  on: state.onSince !== null,
  on_since: state.onSince?.toISOString() ?? null,
  changed_at: state.changedAt?.toISOString() ?? null,
  changed_by: state.changedBy,
  reason: state.reason,
  complete_at: completeAt(state, alive),
})
