import { getAuditHead } from '@market/core/audit'
import { listSwitches, turnSwitch } from '@market/core/switches'
import { handler } from './handler.ts'
import { presentSwitch } from './present-switch.ts'

export const administrationHandlers = {
  listSwitches: handler('listSwitches', {
    run: (ctx) => listSwitches(ctx),
    present: (states) => ({ data: states.map(presentSwitch) }),
  }),
  getAuditHead: handler('getAuditHead', {
    run: (ctx, { seq }) => getAuditHead(ctx, seq === undefined ? undefined : BigInt(seq)),
    present: ({ seq, seal }) => ({ data: { seq: Number(seq), seal: seal.toString('hex') } }),
  }),
  turnSwitch: handler('turnSwitch', {
    run: (ctx, input) => turnSwitch(ctx, input),
    present: (state) => ({ data: presentSwitch(state) }),
  }),
}
