import type { Needs } from '../context.ts'
import { findSwitches } from './store.ts'
import { isSwitch, SWITCHES, type SwitchState } from './switch.ts'

/** All switches, those never touched included. */
export async function listSwitches(ctx: Needs<'db'>): Promise<SwitchState[]> {
  const touched = new Map((await findSwitches(ctx.db)).map((state) => [state.name, state]))
  return Object.keys(SWITCHES)
    .filter(isSwitch)
    .map(
      (name) => touched.get(name) ?? { name, onSince: null, changedAt: null, changedBy: null, reason: null },
    )
}
