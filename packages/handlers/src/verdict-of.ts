import { ApiError } from '@market/kernel/api-error'
import type { Verdict } from '@market/trade/orders'

interface VerdictInput {
  readonly outcome: Verdict['outcome']
  readonly agent_share_bps?: number | undefined
}

/** The share belongs to a split and to nothing else. `path` names the field in the error. */
export function verdictOf({ outcome, agent_share_bps: bps }: VerdictInput, path: string): Verdict {
  if (outcome === 'split' && bps !== undefined) return { outcome, agentShareBps: bps }
  if (outcome !== 'split' && bps === undefined) return { outcome }
  throw new ApiError(
    'invalid',
    'agent_share_bps is required with outcome=split and not allowed with other outcomes',
    { details: [{ path, message: 'is required with outcome=split and not allowed otherwise' }] },
  )
}
