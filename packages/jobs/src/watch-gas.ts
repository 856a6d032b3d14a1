import { type GasFigures, gasFigures } from '@market/trade/x402'
import type { JobContext } from './job.ts'
import type { Sweep } from './sweeps.ts'

const EVERY_MS = 60_000
const FEW = 200

/** Who pays with a signature is rejected once the gas is gone: somebody must be woken before. */
export const watchGas = (note: (figures: readonly GasFigures[]) => void): Sweep<JobContext> => ({
  name: 'watch-gas',
  everyMs: EVERY_MS,
  run: async (ctx, log) => {
    const figures = await gasFigures(ctx)
    note(figures)
    for (const { network, settlementsLeft } of figures)
      if (settlementsLeft < FEW)
        log.error({ network, settlements_left: settlementsLeft }, 'the gas account is nearly empty')
  },
})
