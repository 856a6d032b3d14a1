import { getAuditHead } from '@market/core/audit'
import { listSwitches, turnSwitchIn } from '@market/core/switches'
import { findAliveUntil } from '@market/money/payouts'
import { handler } from './handler.ts'
import { presentSwitch } from './present-switch.ts'

export const administrationHandlers = {
  listSwitches: handler('listSwitches', {
    run: async (ctx) => ({ states: await listSwitches(ctx), alive: await findAliveUntil(ctx.db) }),
    present: ({ states, alive }) => ({ data: states.map((state) => presentSwitch(state, alive)) }),
  }),
  getAuditHead: handler('getAuditHead', {
    run: (ctx, { seq }) => getAuditHead(ctx, seq === undefined ? undefined : BigInt(seq)),
    present: ({ seq, seal }) => ({ data: { seq: Number(seq), seal: seal.toString('hex') } }),
  }),
  turnSwitch: handler('turnSwitch', {
    run: (ctx, input) =>
      ctx.transact(async (tx) => ({
        state: await turnSwitchIn(ctx, tx, input),
        alive: await findAliveUntil(tx),
      })),
    present: ({ state, alive }) => ({ data: presentSwitch(state, alive) }),
  }),
}
