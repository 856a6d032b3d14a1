import type { AgentId } from '@market/kernel/ids'
import type { TokenMode } from '../tokens/index.ts'
import { formatUnits } from '../wallets/index.ts'
import type { FeeShares } from './split.ts'

export type CreatorFeeId = `cfe_${string}`

/** `accrued`: received by the platform. `settled`: the agent's share was paid. `reversed`: the record was wrong. */
export type CreatorFeeStatus = 'accrued' | 'settled' | 'reversed'

/** What an agent's token earned in one transaction, in lamports. */
export interface CreatorFee {
  readonly id: CreatorFeeId
  readonly agentId: AgentId
  readonly mint: string
  readonly mode: TokenMode
  readonly amount: bigint
  readonly shares: FeeShares
  /** The transaction that paid it to the platform. */
  readonly sourceTx: string
  readonly recordedBy: string
  readonly createdAt: Date
  /** Null while the fee is accrued. A settled fee that is reversed keeps it. */
  readonly settlement: Settlement | null
  readonly reversal: Reversal | null
}

/** What two operators decided about a wrong record. Its transactions can then be recorded again. */
interface Reversal {
  readonly approvalId: string
  readonly at: Date
}

export const statusOf = ({
  settlement,
  reversal,
}: Pick<CreatorFee, 'settlement' | 'reversal'>): CreatorFeeStatus => {
  if (reversal !== null) return 'reversed'
  return settlement === null ? 'accrued' : 'settled'
}

export interface Settlement {
  /** The transaction that paid the agent's share. */
  readonly tx: string
  readonly by: string
  readonly at: Date
}

/** The fees of one status. */
export interface FeeTotal {
  readonly count: number
  readonly amount: bigint
  readonly shares: FeeShares
}

/** What was reversed counts nowhere. */
export type FeeTotals = Readonly<Record<Exclude<CreatorFeeStatus, 'reversed'>, FeeTotal>>

const LAMPORTS_DIGITS = 9

/** Lamports as SOL for messages, without rounding: 1500000000 is 1.5. */
export const formatSol = (lamports: bigint): string => formatUnits(lamports, LAMPORTS_DIGITS)
