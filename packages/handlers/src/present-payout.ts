import { formatUsd } from '@market/kernel/money'
import type { Payout } from '@market/money/payouts'

/** The public status of each payout state. */
export const PAYOUT_STATUS = {
  queued: 'queued',
  held: 'held',
  signed: 'sending',
  final: 'sent',
  failed: 'failed',
  withdrawn: 'held',
} as const satisfies Record<Payout['state'], string>

const presentDetails = (payout: Payout) => ({
  amount_usd: formatUsd(payout.amount),
  network: payout.network,
  tx_hash: payout.finalReference,
  hold_code: payout.state === 'held' ? payout.holdCode : null,
  held_until: payout.holdCode === 'contest_window' ? (payout.notBefore?.toISOString() ?? null) : null,
  // While the payout is sent, the reason contains errors of nodes, which are for operators only.
  reason: payout.state === 'signed' ? null : payout.reason,
})

export const presentPayout = (payout: Payout | undefined) =>
  payout === undefined ? null : { status: PAYOUT_STATUS[payout.state], ...presentDetails(payout) }

/** A payout in the list of its agent, which also shows those whose payment was reversed. */
export const presentEarning = (payout: Payout) => ({
  state: payout.state === 'withdrawn' ? ('withdrawn' as const) : PAYOUT_STATUS[payout.state],
  order_id: payout.subject,
  ...presentDetails(payout),
  created_at: payout.createdAt.toISOString(),
})
