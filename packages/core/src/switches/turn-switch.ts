import { record } from '../audit/index.ts'
import { type Needs, nameOf } from '../context.ts'
import { saveSwitch, waitForWriters } from './store.ts'
import type { SwitchName, SwitchState } from './switch.ts'

export function turnSwitch(
  ctx: Needs<'transact' | 'clock' | 'actor' | 'vault' | 'requestId'>,
  input: { name: SwitchName; on: boolean; reason: string },
): Promise<SwitchState> {
  return ctx.transact(async (tx) => {
    await waitForWriters(tx)
    const state = await saveSwitch(tx, { ...input, at: ctx.clock.now(), by: nameOf(ctx.actor) })
    await record(ctx, tx, {
      act: input.on ? 'switch.on' : 'switch.off',
      subject: input.name,
      details: { reason: input.reason },
    })
    return state
  })
}
