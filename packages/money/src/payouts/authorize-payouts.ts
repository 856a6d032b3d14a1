import { TooFewProviders } from '@market/core/ports/chain'
import type { PayoutSender } from '@market/core/ports/payout-sender'
import { findStopping, payoutSwitches } from '@market/core/switches'
import { type Tx, transact } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { formatUsd, type Usdc, usdc } from '@market/kernel/money'
import { type Counted, type CounterChange, scopesOf, withChanges } from './counters/counters.ts'
import { applyCounters, findCounted } from './counters/store.ts'
import { earlyHold, freezeHold, type SendingCost } from './find-hold.ts'
import { recordSpending } from './funding-hold.ts'
import { findGuard } from './guards/store.ts'
import type { Hold } from './hold.ts'
import { decideCaps } from './limits/caps.ts'
import { gasBudgetHold } from './limits/gas-budget.ts'
import { saveOpenedAccount } from './limits/store.ts'
import { decideAccount } from './limits/token-account.ts'
import { assignNonce, type NonceFacts } from './nonces/assign-nonce.ts'
import { findNonceCounter } from './nonces/store.ts'
import { type Guard, isCompared } from './outgoing/guard.ts'
import { compareWithPayout } from './outgoing/outgoing-transfer.ts'
import { findTransferMatches } from './outgoing/store.ts'
import { isWaiting, type Payout, type PayoutId } from './payout.ts'
import type { PayoutContext } from './payout-context.ts'
import { lockNetwork, lockPayouts, type Saved, saveHold, savePayoutOnly } from './store.ts'

/** A payout that nothing holds so far, and what sending it costs. */
export interface Candidate {
  readonly payout: Payout
  readonly cost: SendingCost
}

/** What the chain says about the treasury, read with no transaction open. */
export interface ChainFacts {
  readonly balance: Usdc | TooFewProviders
  /** Null on a network without nonces. */
  readonly nonces: NonceFacts | null
}

export async function readChainFacts(ctx: PayoutContext, sender: PayoutSender): Promise<ChainFacts> {
  const hasCounter = (await findNonceCounter(ctx.db, sender.network)) !== undefined
  const [nonces, final, balance] = await Promise.all([
    sender.nonces(),
    hasCounter ? null : sender.finalNonce(),
    agreedBalance(sender),
  ])
  const { treasury } = sender
  return { balance, nonces: nonces === null ? null : { treasury, counted: nonces.pending, final } }
}

const agreedBalance = (sender: PayoutSender): Promise<Usdc | TooFewProviders> =>
  sender.usdcBalance().catch((error: unknown) => {
    if (error instanceof TooFewProviders) return error
    throw error
  })

/**
 * Authorizes payouts of a network or holds them, the oldest first; one that is held holds no other back. Guard, switches,
 * caps, balance and nonces are one decision of one transaction: after the request that turns a freeze on has returned, no
 * further payout is authorized. Returns the payouts as they are now, without those that another transaction has locked,
 * that are to be paid otherwise than what was checked, or that the chain shows: their next step recovers them.
 */
export function authorizePayouts(
  ctx: PayoutContext,
  { network }: PayoutSender,
  candidates: readonly Candidate[],
  facts: ChainFacts,
): Promise<Map<PayoutId, Payout>> {
  const checked = new Map(candidates.map((candidate) => [candidate.payout.id, candidate]))
  return transact(ctx.db, async (tx) => {
    await lockNetwork(tx, network)
    const locked = await lockPayouts(tx, [...checked.keys()])
    const payouts = locked.filter((payout) => !isChanged(payout, checked.get(payout.id)?.payout))
    const guard = await findGuard(tx, network, 'shared')
    const decided = new Map<PayoutId, Payout>()
    const open: Payout[] = []
    for (const payout of payouts) {
      if (!isWaiting(payout)) decided.set(payout.id, payout)
      else if (!isCompared(guard))
        decided.set(payout.id, await saveHold(tx, payout, { code: 'not_compared' }, ctx.clock.now()))
      else if (compareWithPayout(payout, await findTransferMatches(tx, payout.id)).kind === 'none')
        open.push(payout)
    }
    if (open.length === 0) return decided
    const frozen = freezeHold(network, await findStopping(tx, payoutSwitches(network)))
    let counted = await findCounted(tx, network, open.flatMap(scopesOf), ctx.clock.now())
    const changes: CounterChange[] = []
    for (const payout of open) {
      assert(isCompared(guard) && payout.network === network, `${payout.id} is paid on ${network}`)
      const cost = checked.get(payout.id)?.cost
      assert(cost !== undefined, `${payout.id} has a cost`)
      const done =
        frozen === undefined
          ? await decide(ctx, tx, payout, { guard, cost, counted, facts })
          : { payout: await saveHold(tx, payout, frozen, ctx.clock.now()), counters: [] }
      decided.set(payout.id, done.payout)
      changes.push(...done.counters)
      counted = withChanges(counted, done.counters)
    }
    await applyCounters(tx, changes)
    return decided
  })
}

/** Payee and cost were checked before the lock. */
const isChanged = (payout: Payout, checked: Payout | undefined): boolean =>
  payout.round !== checked?.round ||
  payout.network !== checked.network ||
  payout.payee !== checked.payee ||
  payout.amount !== checked.amount

interface Known {
  readonly guard: Guard
  readonly cost: SendingCost
  readonly counted: Counted
  readonly facts: ChainFacts
}

/** Authorizes one payout under the lock of its network, or holds it. */
async function decide(ctx: PayoutContext, tx: Tx, payout: Payout, known: Known): Promise<Saved> {
  const { guard, cost, counted, facts } = known
  const now = ctx.clock.now()
  const held = async (hold: Hold) => ({ payout: await saveHold(tx, payout, hold, now), counters: [] })
  const early = await earlyHold(ctx, tx, payout, guard)
  if (early !== undefined) return held(early)
  const caps = await decideCaps(ctx.caps, tx, payout, counted)
  if (caps.hold !== undefined) return held(caps.hold)
  const account = await decideAccount(ctx, tx, payout, cost.createsAccount)
  if (account.hold !== undefined) return held(account.hold)
  const hold =
    gasBudgetHold(ctx.caps, payout.network, counted, cost.native) ??
    balanceHold(payout, facts.balance, usdc(counted.inFlight))
  if (hold !== undefined) return held(hold)
  const needsNonce = facts.nonces !== null && payout.nonce === null
  const assigned: { nonce?: bigint; waiting?: Payout } = needsNonce
    ? await assignNonce(tx, payout, guard, facts.nonces, now)
    : {}
  if (assigned.waiting !== undefined) return { payout: assigned.waiting, counters: [] }
  await recordSpending(tx, payout)
  const { agentId, payee } = payout
  if (account.opens) {
    assert(agentId !== null && payee !== null, `${payout.id} pays an agent`)
    await saveOpenedAccount(tx, { ...payout, payee }, agentId, now)
  }
  const { nonce } = assigned
  const change = { countsAgainstCaps: caps.counts, opensAccount: account.opens, cost: cost.native }
  return savePayoutOnly(tx, payout, 'authorize', nonce === undefined ? change : { ...change, nonce }, now)
}

/**
 * The treasury must hold this payout and all that are authorized and not final. A payout that has left the treasury and
 * is not final yet is counted twice for a moment, which only delays the next one.
 */
function balanceHold(
  { amount }: Payout,
  balance: Usdc | TooFewProviders,
  authorized: Usdc,
): Hold | undefined {
  if (balance instanceof TooFewProviders) return { code: 'providers_disagree', detail: balance.message }
  if (balance >= authorized + amount) return undefined
  const detail = `it holds ${formatUsd(balance)}, of which ${formatUsd(authorized)} is for authorized payouts`
  return { code: 'balance_low', detail }
}
