import type { IncomingTransfer } from '@market/core/ports/chain'
import { minus, type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { type Journal, type Move, surplus, suspense, world } from '../ledger/index.ts'
import { escrowAccount, type Purpose, type PurposeKind } from './purpose.ts'

/** `seen`: on the chain, and can still be reversed. `final`: cannot be reversed. `gone`: was reversed. */
export type TransferState = 'seen' | 'final' | 'gone'

export interface Transfer {
  readonly network: Network
  readonly reference: string
  /** What it pays for; null while unclaimed. */
  readonly purpose: Purpose | null
  readonly payer: string | null
  /** Of an unclaimed transfer, all that the transaction sent; of a claimed one, its payer's part. */
  readonly amount: Usdc
  readonly due: Usdc
  readonly block: { readonly height: bigint; readonly hash: string }
  readonly happenedAt: Date
  readonly state: TransferState
  /** Since when the chain no longer shows it as recorded; null while it does. */
  readonly missingSince: Date | null
  /** When it was recorded. A transfer that was reversed and included again is recorded with a new time. */
  readonly arrivedAt: Date
}

export type ClaimedTransfer<Kind extends PurposeKind = PurposeKind> = Transfer & {
  readonly purpose: Extract<Purpose, { kind: Kind }>
}

/** The row for an observed transfer; unclaimed when no claim is given. */
export const transferOf = (
  network: Network,
  seen: IncomingTransfer,
  arrivedAt: Date,
  claim: { readonly purpose: Purpose | null; readonly due: Usdc } = { purpose: null, due: usdc(0n) },
): Transfer => ({
  network,
  reference: seen.reference,
  purpose: claim.purpose,
  payer: seen.payer,
  amount: seen.amount,
  due: claim.due,
  block: seen.block,
  happenedAt: seen.at,
  state: seen.final ? 'final' : 'seen',
  missingSince: null,
  arrivedAt,
})

export const isSamePurpose = (a: Purpose | null, b: Purpose | null): boolean =>
  a === b || (a !== null && b !== null && a.kind === b.kind && a.id === b.id)

/** Claimed: what is due is in escrow and the rest is surplus. Unclaimed: all of it is in suspense. */
function balancesOf({ network, reference, purpose, amount, due }: Transfer): {
  account: Move['to']
  amount: Usdc
}[] {
  if (purpose === null) return [{ account: suspense(network, reference), amount }]
  return [
    { account: escrowAccount(network, purpose), amount: due },
    { account: surplus(network, reference), amount: minus(amount, due) },
  ]
}

/** Contains the time, because the chain can reverse a transfer and include it again, even in the same block. */
export const keySuffix = ({ network, reference, arrivedAt }: Transfer): string =>
  `:${network}:${reference}:${arrivedAt.getTime()}`

/** The journals of a claimed transfer have the id of its purpose as subject, like all others of the same order. */
export const subjectOf = ({ purpose, reference }: Transfer): string =>
  purpose === null ? reference : purpose.id

const journalOf = (what: string, transfer: Transfer, moves: readonly Move[], n = ''): Journal => ({
  key: `transfer.${what}${n}${keySuffix(transfer)}`,
  reason: `transfer.${what}`,
  subject: subjectOf(transfer),
  network: transfer.network,
  moves,
})

/** From the chain to escrow and surplus, or to suspense. */
export const arrivalJournal = (transfer: Transfer): Journal =>
  journalOf(
    transfer.purpose === null ? 'unmatched' : 'claimed',
    transfer,
    balancesOf(transfer).map(({ account, amount }) => ({
      from: world(transfer.network),
      to: account,
      amount,
    })),
  )

/** From suspense to escrow and surplus. */
export const matchJournal = (transfer: Transfer): Journal =>
  journalOf(
    'matched',
    transfer,
    balancesOf(transfer).map(({ account, amount }) => ({
      from: suspense(transfer.network, transfer.reference),
      to: account,
      amount,
    })),
  )

/** Back to the chain, with what other wallets paid in the same transaction. */
export function reversalJournal(transfer: Transfer, inSuspense: Usdc): Journal {
  const claimed = transfer.purpose === null ? [] : balancesOf(transfer)
  const unclaimed = { account: suspense(transfer.network, transfer.reference), amount: inSuspense }
  return journalOf(
    'gone',
    transfer,
    [...claimed, unclaimed].map(({ account, amount }) => ({
      from: account,
      to: world(transfer.network),
      amount,
    })),
  )
}

/** Adds to suspense, or removes from it, what the transaction sent beyond or below the recorded amount. */
export function correctionJournal(transfer: Transfer, micros: bigint, n: number): Journal {
  const [chain, unclaimed] = [world(transfer.network), suspense(transfer.network, transfer.reference)]
  const move =
    micros > 0n
      ? { from: chain, to: unclaimed, amount: usdc(micros) }
      : { from: unclaimed, to: chain, amount: usdc(-micros) }
  return journalOf('corrected', transfer, [move], `.${n}`)
}
