import type { SeenTransfer } from '@market/core/ports/chain'
import { minus, type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { escrow, type Journal, type Move, surplus, suspense, world } from '../ledger/index.ts'

/** `seen` may still be undone by the chain; `final` may not; `gone` was undone. */
export type TransferState = 'seen' | 'final' | 'gone'

export interface Transfer {
  readonly network: Network
  readonly reference: string
  /** What it pays for; empty while nobody has claimed it. */
  readonly purpose: string
  readonly payer: string | null
  /** Unclaimed, all that the transaction brought; claimed, the payer's part of it. */
  readonly amount: Usdc
  readonly due: Usdc
  readonly block: { readonly height: bigint; readonly hash: string }
  readonly happenedAt: Date
  readonly state: TransferState
  /** Since when the chain does not show it as it was written down; null while it does. */
  readonly missingSince: Date | null
  /** When it was written down: one that was gone and comes again is written down anew. */
  readonly arrivedAt: Date
}

/** As a look shows it and the claim wants it; unclaimed when there is no claim. */
export const transferOf = (
  network: Network,
  seen: SeenTransfer,
  arrivedAt: Date,
  claim: { readonly purpose: string; readonly due: Usdc } = { purpose: '', due: usdc(0n) },
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

/** What was due waits in escrow, the rest is owed back; unclaimed, all of it is in suspense. */
function restsIn({ network, reference, purpose, amount, due }: Transfer): { at: Move['to']; amount: Usdc }[] {
  if (purpose === '') return [{ at: suspense(network, reference), amount }]
  return [
    { at: escrow(network, purpose), amount: due },
    { at: surplus(network, reference), amount: minus(amount, due) },
  ]
}

/** The time is part of each key: the chain may take a transfer away and give it again, even in the same block. */
export const keyEnd = ({ network, reference, arrivedAt }: Transfer): string =>
  `:${network}:${reference}:${arrivedAt.getTime()}`

/** A purpose is a kind and an id, `order:ord_…`: its journals are about the id, as all others of the same order are. */
export const subjectOf = ({ purpose, reference }: Transfer): string =>
  purpose === '' ? reference : purpose.slice(purpose.indexOf(':') + 1)

const journalOf = (what: string, transfer: Transfer, moves: readonly Move[], n = ''): Journal => ({
  key: `transfer.${what}${n}${keyEnd(transfer)}`,
  reason: `transfer.${what}`,
  subject: subjectOf(transfer),
  network: transfer.network,
  moves,
})

/** In from the chain. */
export const arrival = (transfer: Transfer): Journal =>
  journalOf(
    transfer.purpose === '' ? 'unmatched' : 'claimed',
    transfer,
    restsIn(transfer).map(({ at, amount }) => ({ from: world(transfer.network), to: at, amount })),
  )

/** Out of suspense, to what it was claimed for. */
export const matching = (transfer: Transfer): Journal =>
  journalOf(
    'matched',
    transfer,
    restsIn(transfer).map(({ at, amount }) => ({
      from: suspense(transfer.network, transfer.reference),
      to: at,
      amount,
    })),
  )

/** Back to the chain, with what others paid in the same transaction. */
export function undoing(transfer: Transfer, inSuspense: Usdc): Journal {
  const claimed = transfer.purpose === '' ? [] : restsIn(transfer)
  const strange = { at: suspense(transfer.network, transfer.reference), amount: inSuspense }
  return journalOf(
    'gone',
    transfer,
    [...claimed, strange].map(({ at, amount }) => ({ from: at, to: world(transfer.network), amount })),
  )
}

/** The transaction brought more than was counted, or less. Only what is in suspense can become less. */
export function correcting(transfer: Transfer, micros: bigint, n: number): Journal {
  const [there, strange] = [world(transfer.network), suspense(transfer.network, transfer.reference)]
  const move =
    micros > 0n
      ? { from: there, to: strange, amount: usdc(micros) }
      : { from: strange, to: there, amount: usdc(-micros) }
  return journalOf('corrected', transfer, [move], `.${n}`)
}
